async function work() {
  await null;
  throw new RangeError('out of range');
}
work();
