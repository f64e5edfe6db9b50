const log = [];
const watched = new Proxy({ a: 1 }, {
  get(target, name, self) { log.push(`get ${String(name)}`); return Reflect.get(target, name, self) ?? `no ${String(name)}`; },
  set(target, name, value) { if (typeof value !== 'number') throw new TypeError(`${name} wants a number`); return Reflect.set(target, name, value); },
  has: (target, name) => name.startsWith('a'), deleteProperty: () => false, ownKeys: () => ['a', 'z'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
});
watched.b = 2;
try { watched.c = 'x'; } catch (error) { console.log(error.message); }
console.log(watched.a, watched.zzz, 'abc' in watched, 'b' in watched, Object.keys(watched), log, Reflect.deleteProperty(watched, 'a'));
const { proxy, revoke } = Proxy.revocable(() => 1, { apply: (f, _, args) => args.length });
console.log(proxy(1, 2, 3)); revoke();
try { proxy(); } catch (error) { console.log(error.constructor.name); }
console.log(Reflect.ownKeys(class { static s = 1; }), Reflect.construct(Date, [0]).getTime(), Reflect.getPrototypeOf([]) === Array.prototype);
