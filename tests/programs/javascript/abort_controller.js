const { setTimeout: sleep } = require('timers/promises');
(async () => {
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => console.log('aborted:', controller.signal.reason));
  setTimeout(() => controller.abort('enough'), 2);
  try {
    await sleep(10000, null, { signal: controller.signal });
  } catch (error) {
    console.log(error.name, error.code, controller.signal.aborted);
  }
  await sleep(5);
  const timeout = AbortSignal.timeout(2);
  await new Promise((resolve) => timeout.addEventListener('abort', resolve));
  console.log(timeout.reason.name, AbortSignal.abort().aborted);
})();
