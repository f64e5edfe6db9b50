const sleep = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
(async () => {
  console.log(await Promise.all([sleep(6, 'slow'), sleep(1, 'fast'), 'now']));
  console.log(await Promise.race([sleep(200, 'slow'), sleep(1, 'fast')]));
  console.log(await Promise.any([Promise.reject(1), sleep(1, 'any')]));
  console.log(await Promise.allSettled([1, Promise.reject(new Error('no'))]).then((all) => all.map((each) => each.reason?.message ?? each)));
  console.log(await Promise.reject(1).catch((e) => e + 1).finally(() => console.log('finally')));
})();
