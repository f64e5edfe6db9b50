class Shape { static #made = 0; #secret = 1; static { this.kind = 'shape'; } constructor(name) { this.name = name; Shape.#made++; } get secret() { return this.#secret; } set secret(v) { this.#secret = v * 2; } static get made() { return Shape.#made; } has(o) { return #secret in o; } toString() { return `${this.constructor.name}(${this.name})`; } }
class Square extends Shape { side = 2; constructor() { super('sq'); } area = () => this.side ** 2; toString() { return super.toString() + '!'; } static [Symbol.hasInstance](o) { return 'side' in o; } }
const s = new Square(); s.secret = 5;
console.log(String(s), s.area.call(null), s.secret, Shape.made, Shape.kind, s.has({}), s.has(s), { side: 1 } instanceof Square, s, Object.getOwnPropertyNames(Shape.prototype));
const mixin = (base) => class extends base { mixed() { return 'mixed'; } };
console.log(new (mixin(Square))().mixed(), typeof Shape, Object.getPrototypeOf(Square) === Shape, new.target === undefined);
try { Shape(); } catch (error) { console.log(error.message); }
try { class A extends null {} new A(); } catch (error) { console.log(error.constructor.name); }
