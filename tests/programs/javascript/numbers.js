console.log(0.1 + 0.2, (0.1 + 0.2).toFixed(2), 1e21, 1 / 3, -0, Object.is(-0, 0), 5 % -3, 2 ** 53 + 1, Number.MAX_SAFE_INTEGER, 0xff, 0b101, 1_000_000);
console.log(parseInt('12px'), Number('12px'), +'', parseFloat('.5e1'), (255).toString(16), (1234.5678).toPrecision(6), Number.EPSILON > 0, isNaN('x'), Number.isInteger(5.0), NaN !== NaN);
console.log(Math.hypot(3, 4), Math.trunc(-1.5), Math.sign(-3), Math.cbrt(27), Math.clz32(1), Math.fround(5.5), Math.imul(3, 4), ~~-1.5, -1 >>> 28, 1 << 31, [10, 9, 1].sort(), [10, 9, 1].sort((a, b) => a - b));
