// How figures read on pages: decimals fixed for each, as pages/terms.c has them.
export const DECIMALS = { ttftMs: 1, decodeCharsPerSec: 1, overallCharsPerSec: 1, singleLatencyMs: 1, batchTextsPerSec: 1,
  loadMs: 0, loadColdMs: 0, loadWarmMs: 0, qualityScore: 2, qualityParseRate: 2 };

/** Whether TEXT is what people read for VALUE (of the data, with its two decimals) of the figure KEY. */
export function reads(key, text, value) {
  if (!(key in DECIMALS) || value === undefined || value === '') return text === String(value ?? '');
  const decimals = DECIMALS[key];
  return new RegExp(decimals ? `^\\d+\\.\\d{${decimals}}$` : '^\\d+$').test(text)
    && Math.abs(Number(text) - Number(value)) <= 0.5 * 10 ** -decimals + 0.00501;
}
