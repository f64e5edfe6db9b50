const { AsyncLocalStorage, AsyncResource } = require('async_hooks');
const storage = new AsyncLocalStorage();
const tell = (what) => console.log(what, storage.getStore());
storage.run({ id: 1 }, async () => {
  tell('sync');
  await new Promise((resolve) => setTimeout(resolve, 2));
  tell('after a timer');
  setImmediate(() => {
    tell('immediate');
    setTimeout(bound, 2);
  });
  storage.exit(() => tell('outside'));
});
storage.run({ id: 2 }, () => process.nextTick(() => tell('tick')));
const bound = storage.run('bound', () => AsyncResource.bind(() => tell('later')));
tell('main');
