export { create, createEach, everything, remove } from '../../src/testing/plants.ts';
