const date = new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 250));
console.log(date.toISOString(), date.toJSON(), date.getDay(), String(date), date.getTimezoneOffset(), +new Date('2024-02-30T00:00:00Z'));
date.setMonth(date.getMonth() + 12);
console.log(date, new Date(NaN).getTime(), new Date(2020, 0).getFullYear(), Date.parse('Thu, 01 Jan 1970 00:00:01 GMT'));
console.log(date.toLocaleDateString('de-DE', { weekday: 'long', month: 'long', day: 'numeric' }), date.toLocaleString('en-US', { timeZone: 'Asia/Tokyo' }));
try { new Date(NaN).toISOString(); } catch (error) { console.log(error.constructor.name); }
