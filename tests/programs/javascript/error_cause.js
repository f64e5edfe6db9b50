try {
  try {
    JSON.parse('{bad');
  } catch (cause) {
    throw new Error('outer', { cause });
  }
} catch (error) {
  console.log(error.message, '<-', error.cause.name, error.cause.message);
}
const many = new AggregateError([new Error('one'), new TypeError('two')], 'several');
console.log(many.errors.map(String), many.message);
class OwnError extends Error {
  name = 'OwnError';
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}
console.log(String(new OwnError('text', 42)), new OwnError('x', 1) instanceof Error);
