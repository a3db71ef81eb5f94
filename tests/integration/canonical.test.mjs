// Point 4 of the main job: the reader, the printer and the canonical form against ECMAScript.
// Node itself says what JSON.parse and JSON.stringify make of a text; some bytes are recorded besides.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { canonical, sha256 } from '../bench/baseline.mjs';
import { check, Folder, run } from '../support/checker.mjs';
import { tryTexts } from '../support/texts.mjs';

const folder = new Folder();
after(() => folder.close());

const PILE = '\u{1F4A9}'; // U+1F4A9, two units from U+D83D on
const escapeAll = (text) => [...Array(text.length).keys()].map((i) =>
  `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
const object = (members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
const nested = (depth, open, close) => `${open.repeat(depth)}${close.repeat(depth)}`;

// The depth limit counts the outermost container; the tested text is the value of a member, at depth 2.
const TEXTS = {
  'lone surrogates in values': '{"a":"\\ud83d","b":"\\ude00","c":"x\\uD83Dy","d":"\\ude00\\ud83d"}',
  'lone surrogates in keys': '{"\\ude00":1,"\\ud83d":2,"\\ud83d\\ude00":3,"\\ud83d\\ud83d\\ude00":4,"x":5}',
  'a pair written as escapes and raw': `{"\\ud83d\\udca9":1,"b":"\\ud83d\\udca9${PILE}"}`,
  'the same key as escapes and raw': `{"\\ud83d\\udca9":1,"z":2,"${PILE}":3}`,
  'a raw letter after half a pair': '{"a":"\\ud83d\u00e9","b":"\\ud83d\\u0041"}',
  'NUL in values and keys': '{"a\\u0000b":"\\u0000","a":"x\\u0000","a\\u0000":1,"\\u0000":2,"a\\u0000a":3}',
  'keys beyond U+FFFF against keys at U+E000 to U+FFFF': `{"\uffff":1,"${PILE}":2,"\ue000":3,"\ufb01":4,"\ud7ff":5,"\\uffff\\uffff":6}`,
  'lone surrogates against pairs and U+E000': `{"\ue000":1,"\\ude00":2,"${PILE}":3,"\\ud83d":4,"\\ud83dz":5,"\\ud83d\ue000":6,"\\udbff\\udfff":7,"\\ud800\\udc00":8}`,
  'keys that begin alike': object(['b', 'a', '', 'aa', 'ab', 'a b', 'A', '\u00e9', 'e\u0301', '~',
    '\u007f'].map((key, i) => [key, i])),
  'numbers of every form': '{"a":[-0,0,-0.0,0e5,-0e-5,1e21,1e-7,5e-324,-5e-324,1.7976931348623157e308,2.2250738585072014e-308,1e20,123456789012345680000,0.000001,1e-6,1E+2,1.50,100,1e0,10E-1,0.1,-1.5e-9]}',
  'numbers that round to zero': '{"a":[1e-400,-1e-400,2.4703282292062327e-324,2.4703282292062328e-324,0.0000000000000000000000000000000000000000000000e400]}',
  'integers beyond 2^53': '{"a":[9007199254740991,9007199254740992,9007199254740993,9007199254740994,9007199254740995,-9007199254740993,18446744073709551615,18446744073709551616,123456789012345678901234567890]}',
  'numbers of 17 digits': '{"a":[72658.61999998987,0.30000000000000004,75126.02000000328,5.0000000000000001,1.7976931348623158e308,0.1000000000000000055511151231257827,4.35,2.5e-8]}',
  'halves between two doubles': '{"a":[9007199254740993.0,9007199254740993.00000000000000000000000000000001,1.00000000000000011102230246251565,1.00000000000000011102230246251566,1.000000000000000111022302462515654042363166809082031250000000001]}',
  'a number of 1,000 digits': `{"a":[${'1'.repeat(300)}.${'7'.repeat(700)},0.${'0'.repeat(320)}${'3'.repeat(680)},${'9'.repeat(308)}]}`,
  'the largest numbers': '{"a":[1.7976931348623157e308,1.79769313486231580793e308,1.797693134862315807937289714053034150799e308,-1.7976931348623157e+308,17976931348623157e292]}',
  'a repeated key keeps its first place and takes its last value': '{"a":1,"b":2,"a":{"c":3,"c":[4]},"b":"last","c":5,"a":6}',
  'keys repeated many times': object(Array.from({ length: 3000 }, (_, i) => [`k${i % 700}`, i])),
  'one key repeated often': object(Array.from({ length: 5000 }, (_, i) => ['same', i])),
  'many keys in all orders': object(Array.from({ length: 4000 },
    (_, i) => [`${(i * 2654435761) % 4294967296}x`, i])),
  'integer-like keys': object(['b', '10', '9', '2', '1', '0', '4294967294', '4294967295', '4294967296', '01', '-1',
    '1.0', '1e1', '00', '+1', ' 1', '', '-0', '99999999999', 'a', '100',
    '\\u0031\\u0031'].map((key, i) => [key, i])),
  'integer-like keys repeated': '{"7":1,"a":2,"3":3,"7":4,"a":5,"3":6}',
  'integer-like keys deep down': '{"z":[{"b":1,"2":2,"1":3}],"5":{"y":1,"0":2}}',
  'many integer-like keys': object(Array.from({ length: 3000 }, (_, i) => [`${(i * 7919) % 3001}`, i])),
  '__proto__ and its like are plain keys': '{"__proto__":1,"constructor":{"prototype":2},"toString":3,"toJSON":4,"hasOwnProperty":5,"length":6}',
  'every control character as an escape': `{"a":"${escapeAll(String.fromCharCode(...Array(32).keys()))}"}`,
  'every short escape': '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t","\\"\\\\\\/\\b\\f\\n\\r\\t":1}',
  'escapes in both cases': '{"a":"\\u00E9\\u00e9\\uABCD\\uabcd\\uD83D\\udC4d"}',
  'what is printed raw': '{"a":"\u007f\u0080\u009f\u2028\u2029\ufeff\ufffe\uffff/\u00e9<>&\'","\u2028\u007f":1}',
  'every boundary of UTF-8 length': `{"a":"\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}"}`,
  'white space around everything': ' \t\r\n{ \t\r\n"a" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n{ \t\r\n} \t\r\n] \t\r\n, "b":[ ] } \t\r\n',
  'empty containers, words and strings': '{"":"","a":[],"b":{},"c":[[],{}],"d":null,"e":true,"f":false}',
  'long strings': `{"${'k'.repeat(70000)}":"${'v'.repeat(100000)}","a":"${'\u00e9'.repeat(40000)}","b":"${'\\u0000'.repeat(20000)}"}`,
  'a long array': `{"a":[${Array.from({ length: 50000 }, (_, i) => i).join(',')}]}`,
  'arrays 127 deep in the object': `{"a":${nested(127, '[', ']')}}`,
  'objects 128 deep': `${'{"a":'.repeat(127)}{}${'}'.repeat(127)}`,
};

const RECORDED = {
  'lone surrogates in values': '{"a":"\\ud83d","b":"\\ude00","c":"x\\ud83dy","d":"\\ude00\\ud83d"}',
  'lone surrogates in keys': '{"x":5,"\\ud83d":2,"\\ud83d\u{1F600}":4,"\u{1F600}":3,"\\ude00":1}',
  'NUL in values and keys': '{"\\u0000":2,"a":"x\\u0000","a\\u0000":1,"a\\u0000a":3,"a\\u0000b":"\\u0000"}',
  'keys beyond U+FFFF against keys at U+E000 to U+FFFF': `{"\ud7ff":5,"${PILE}":2,"\ue000":3,"\ufb01":4,"\uffff":1,"\uffff\uffff":6}`,
  'numbers of every form': '{"a":[0,0,0,0,0,1e+21,1e-7,5e-324,-5e-324,1.7976931348623157e+308,2.2250738585072014e-308,100000000000000000000,123456789012345680000,0.000001,0.000001,100,1.5,100,1,1,0.1,-1.5e-9]}',
  'integers beyond 2^53': '{"a":[9007199254740991,9007199254740992,9007199254740992,9007199254740994,9007199254740996,-9007199254740992,18446744073709552000,18446744073709552000,1.2345678901234568e+29]}',
  'a repeated key keeps its first place and takes its last value': '{"a":6,"b":"last","c":5}',
  'integer-like keys deep down': '{"5":{"0":2,"y":1},"z":[{"1":3,"2":2,"b":1}]}',
  'every control character as an escape': '{"a":"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f"}',
  'every short escape': '{"\\"\\\\/\\b\\f\\n\\r\\t":1,"a":"\\"\\\\/\\b\\f\\n\\r\\t"}',
  'what is printed raw': '{"a":"\u007f\u0080\u009f\u2028\u2029\ufeff\ufffe\uffff/\u00e9<>&\'","\u2028\u007f":1}',
};

test('the canonical form, the digest and the printed form are those of ECMAScript', async (t) => {
  let i = 0;
  for (const [name, text] of Object.entries(TEXTS)) {
    const file = folder.write(`${i++}.json`, text);
    await t.test(name, () => {
      const value = JSON.parse(text);
      const expected = canonical(value);
      const made = run(['digest', '--canonical', file]);
      assert.equal(made.status, 0, made.stderr);
      assert.equal(made.stdout.toString(), expected);
      assert.ok(made.stdout.equals(Buffer.from(expected)), 'to the byte');
      if (name in RECORDED) assert.equal(expected, RECORDED[name], 'as recorded');
      assert.equal(run(['digest', file]).stdout.toString(), `${sha256(expected)}\n`);
      const scrubbed = run(['scrub', file]);
      assert.equal(scrubbed.status, 0, scrubbed.stderr);
      assert.ok(scrubbed.stdout.equals(Buffer.from(JSON.stringify(value))), 'scrub prints JSON.stringify');
    });
  }
});

test('digest and nonce are left out at the top only', () => {
  const text = '{"nonce":{"a":1},"b":{"digest":1,"nonce":2},"digest":"x","a":[{"digest":3}],"\\u0064igests":1}';
  const made = run(['digest', '--canonical', folder.write('omit.json', text)]);
  assert.equal(made.stdout.toString(), '{"a":[{"digest":3}],"b":{"digest":1,"nonce":2},"digests":1}');
});

test('a leading byte order mark is skipped, once', () => {
  const made = run(['digest', '--canonical', folder.write('bom.json', '\ufeff{"a":1}')]);
  assert.equal(made.stdout.toString(), '{"a":1}');
});

test('standard input reads as a file does', () => {
  assert.equal(run(['digest', '--canonical', '-'], '{"b":1,"a":2}').stdout.toString(), '{"a":2,"b":1}');
});

const bytes = (...parts) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const inString = (...units) => bytes('{"a":"', units, '"}');
const inKey = (...units) => bytes('{"', units, '":1}');

// Refused by Node as well: bad UTF-8 by a strict decoder, the rest by JSON.parse.
const BAD_UTF8 = {
  'a lone continuation byte': [0x80], 'a lone continuation byte 0xbf': [0xbf],
    'an overlong slash of 2 bytes': [0xc0, 0xaf], 'an overlong NUL': [0xc0, 0x80],
  'an overlong 2 bytes 0xc1': [0xc1, 0xbf], 'an overlong of 3 bytes': [0xe0, 0x80, 0xaf],
    'an overlong of 3 bytes, the largest': [0xe0, 0x9f, 0xbf],
  'an overlong of 4 bytes': [0xf0, 0x80, 0x80, 0xaf], 'an overlong of 4 bytes, the largest': [0xf0, 0x8f, 0xbf,
    0xbf], 'a high surrogate': [0xed, 0xa0, 0x80],
  'a low surrogate': [0xed, 0xbf, 0xbf], 'a surrogate pair': [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
    'U+110000': [0xf4, 0x90, 0x80, 0x80], '0xf5': [0xf5, 0x80, 0x80, 0x80],
  '0xf8': [0xf8, 0x88, 0x80, 0x80, 0x80], '0xfe': [0xfe], '0xff': [0xff], '2 bytes cut to 1': [0xc3],
    '3 bytes cut to 1': [0xe2], '3 bytes cut to 2': [0xe2, 0x80],
  '4 bytes cut to 1': [0xf0], '4 bytes cut to 2': [0xf0, 0x9f], '4 bytes cut to 3': [0xf0, 0x9f, 0x92],
    'a wrong second byte': [0xe2, 0x28, 0xa1],
  'a wrong third byte': [0xe2, 0x82, 0x28], 'a wrong fourth byte': [0xf0, 0x90, 0x8d, 0x28],
    'a first byte twice': [0xc3, 0xc3, 0xa9],
};
const BAD_TEXT = {
  nothing: '', 'white space only': ' \n', 'a comma too many in an object': '{"a":1,}',
    'a comma too many in an array': '{"a":[1,]}', 'a comma too few': '{"a":1 "b":2}',
  'a colon too few': '{"a" 1}', 'a key without quotes': '{a:1}', 'single quotes': "{'a':1}",
    'an open object': '{"a":1', 'an open array': '{"a":[1', 'an open string': '{"a":"x',
  'an open key': '{"a', 'a value too few': '{"a":}', 'a wrong bracket': '{"a":[1}', 'trailing text': '{"a":1}x',
    'a second value': '{"a":1}{}', 'trailing NUL': '{"a":1}\0',
  'NUL between': '{"a":\0 1}', 'a comment': '{"a":1/**/}', 'a form feed as white space': '{"a":\f1}',
    'a no-break space as white space': '{"a":\u00a01}',
  'a vertical tab as white space': '{\v"a":1}', 'U+2028 as white space': '{"a":1}\u2028',
    'a byte order mark inside': '{"a":\ufeff1}', 'two byte order marks': '\ufeff\ufeff{"a":1}',
  'a byte order mark at the end': '{"a":1}\ufeff', 'a word in capitals': '{"a":True}',
    'a word cut short': '{"a":tru}', 'a word too long': '{"a":nulll}', NaN: '{"a":NaN}', Infinity: '{"a":Infinity}',
  '-Infinity': '{"a":-Infinity}', undefined: '{"a":undefined}', 'a leading zero': '{"a":01}',
    'a negative leading zero': '{"a":-01}', 'a plus sign': '{"a":+1}', 'a lone minus': '{"a":-}',
    'no digit before the point': '{"a":.5}',
  'no digit after the point': '{"a":1.}', 'no digit after the point before an exponent': '{"a":1.e5}',
    'an empty exponent': '{"a":1e}', 'an exponent with a sign only': '{"a":1e+}', hexadecimal: '{"a":0x10}',
    'a digit group': '{"a":1_000}', 'a big integer': '{"a":1n}',
  'an unknown escape': '{"a":"\\x41"}', 'a capital escape': '{"a":"\\N"}', 'a cut escape': '{"a":"\\u12"}',
    'an escape of no hex': '{"a":"\\u12g4"}', 'a signed escape': '{"a":"\\u+123"}',
  'a backslash at the end': '{"a":"\\', 'a backslash before the end': '{"a":"\\"}',
    'an escape at the end': '{"a":"\\u', 'a raw newline in a string': '{"a":"\n"}', 'a number as a key': '{1:1}',
    'null as a key': '{null:1}',
};
for (let code = 0; code < 32; code++) BAD_TEXT[`raw U+${code.toString(16).padStart(4, '0')} in a string`] = `{"a":"x${String.fromCharCode(code)}"}`;
const BEYOND = { // Node takes these, the specification does not
  'a number that overflows': '{"a":1e309}', 'a negative number that overflows': '{"a":-1e309}',
    'the first number that overflows': '{"a":1.7976931348623159e308}',
  'an integer that overflows': `{"a":1${'0'.repeat(309)}}`,
    'just above the half to infinity': '{"a":1.797693134862315807937289714053034150799341327100378269361737789804450e308}', 'exactly the half to infinity': `{"a":${((2n ** 1024n + (2n ** 1024n - 2n ** 971n)) / 2n)}}`, 'a huge exponent': '{"a":1e99999999999999999999}', 'an overflow under a key that comes again': '{"a":1e400,"a":1}',
  'arrays 128 deep in the object': `{"a":${nested(128, '[', ']')}}`,
    'objects 129 deep': `${'{"a":'.repeat(128)}{}${'}'.repeat(128)}`,
    'a depth of 129 under a key that comes again': `{"a":${nested(128, '[', ']')},"a":1}`,
  'arrays 129 deep': nested(129, '[', ']'), 'arrays 1,000,000 deep': nested(1_000_000, '[', ']'),
    'arrays 1,000,000 deep and open': '['.repeat(1_000_000), 'objects 300,000 deep': '{"a":'.repeat(300_000),
};

test('what is no JSON by ECMAScript or the specification is refused, never half read', async (t) => {
  const cases = [
    ...Object.entries(BAD_UTF8).flatMap(([name, units]) => [[`bad UTF-8: ${name}`, inString(...units)],
      [`bad UTF-8 in a key: ${name}`, inKey(...units)]]),
    ...Object.entries(BAD_UTF8).map(([name, units]) => [`bad UTF-8 at the end: ${name}`, bytes('{"a":"', units)]),
    ['bad UTF-8 outside strings', bytes('{"a":1}', [0xc3])], ['half a byte order mark', bytes([0xef, 0xbb], '{}')],
      ['UTF-16', Buffer.from('\ufeff{"a":1}', 'utf16le')],
    ...Object.entries(BAD_TEXT).map(([name, text]) => [name, bytes(text)]),
    ...Object.entries(BEYOND).map(([name, text]) => [name, bytes(text), 'node takes it']),
  ];
  const { status, verdicts } = check(cases.map(([, content]) => content));
  assert.equal(status, 3);
  for (const [i, [name, content, nodeTakesIt]] of cases.entries()) {
    await t.test(name, () => {
      assert.deepEqual(Object.keys(verdicts[i]), ['file', 'ok', 'error'],
        JSON.stringify(verdicts[i]).slice(0, 300));
      assert.equal(verdicts[i].ok, false);
      assert.match(verdicts[i].error, /JSON/);
      if (!nodeTakesIt) assert.throws(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content)));
    });
  }
});

test('a refused text says where: line, column, offset within it', () => {
  const { status, stderr, stdout } = run(['digest', folder.write('where.json', '{\n  "a": 1,\n  "b": x\n}')]);
  assert.equal(status, 3);
  assert.equal(stdout.length, 0);
  assert.match(stderr, /^benchledger: .*where\.json: .*line 3, column 8/);
});

// The long run: node tests/fuzz/texts.mjs 1000000
test('3,000 random texts, sound and broken, are read and printed as Node does', (t) => {
  const { differences, ...counts } = tryTexts(3000, 20260115);
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(differences, []);
  assert.ok(counts.refused > 300 && counts.refused < 2700);
});
