// Apps whose own routes let errors of the store reach the error handler of the framework.
import express from 'express';
import fastify from 'fastify';

/** Each function returns the listener of an app that calls `act` for every request. */
export const apps = {
  Express: (act) => express().use(act),
  Fastify: async (act) => {
    const app = fastify();
    app.all('/*', act);
    await app.ready();
    return app.routing;
  },
};
