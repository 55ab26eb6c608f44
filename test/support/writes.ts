export { create, createEach, firstPage, remove } from '../../src/testing/plants.ts';
