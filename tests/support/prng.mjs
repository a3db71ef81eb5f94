// A seeded generator for tests that must be repeatable: mulberry32.
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }
  /** 32 random bits. */
  bits() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
  /** A whole number from 0 to below N. */
  below(n) {
    return Math.floor((this.bits() / 4294967296) * n);
  }
  chance(p) {
    return this.bits() / 4294967296 < p;
  }
  pick(list) {
    return list[this.below(list.length)];
  }
}
