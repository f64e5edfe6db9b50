const { performance, PerformanceObserver } = require('perf_hooks');
performance.mark('a');
for (let i = 0; i < 1e5; i++);
performance.mark('b');
const measure = performance.measure('loop', 'a', 'b');
console.log(measure.name, measure.duration >= 0, performance.getEntriesByType('mark').map((mark) => mark.name), performance.now() > 0);
new PerformanceObserver((list, observer) => { console.log(list.getEntries().map((entry) => entry.name)); observer.disconnect(); }).observe({ entryTypes: ['measure'], buffered: true });
performance.measure('again', 'a');
