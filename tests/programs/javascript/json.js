const text = '{"a":[1,2.5e3,-0,"\\u00fc\\ud83d\\ude00",null,true],"b":{"__proto__":1,"date":"2024-01-01T00:00:00.000Z"}}';
const value = JSON.parse(text, (key, v) => (key === 'date' ? new Date(v) : v));
console.log(value, JSON.stringify(value, null, 2).length, JSON.stringify({ u: undefined, f() {}, s: Symbol('s'), n: NaN, d: new Date(0), nested: { toJSON: () => 'own' } }), JSON.stringify([undefined]), JSON.stringify('\u2028\ud800'), JSON.stringify({ b: 1, a: [1, { c: 2, a: 3 }] }, ['a', 'c']));
for (const bad of ['{"a":1,}', '', '[1', "{'a':1}", '01']) try { JSON.parse(bad); } catch (error) { console.log(error.name, error.message); }
const circle = {}; circle.self = circle;
try { JSON.stringify(circle); } catch (error) { console.log(error.message.split('\n')[0]); }
