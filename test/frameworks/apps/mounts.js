// Frameworks and middleware around the listener of the service.
import fastifyCompress from '@fastify/compress';
import middie from '@fastify/middie';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import compression from 'compression';
import oldCompression from 'compression-1.7.4';
import connect from 'connect';
import express from 'express';
import session from 'express-session';
import fastify from 'fastify';
import { fromNodeHandler, H3, toNodeHandler } from 'h3';
import { createApp, fromNodeMiddleware, toNodeListener } from 'h3-1';
import Koa from 'koa';
import koaCompress from 'koa-compress';
import morgan from 'morgan';

const quiet = { stream: { write() {} } };

async function fastifyApp(plugins, ...use) {
  const app = fastify();
  for (const plugin of plugins) await app.register(plugin);
  app.use(...use);
  await app.ready();
  return app.routing;
}

/** Unlike `create`, `init` registers the body parsers, as `listen` does. */
async function nestApp(adapter, ...use) {
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.create(AppModule, adapter, { logger: false });
  app.use(...use);
  await app.init();
  return app.getHttpAdapter().getInstance();
}

/** Each function mounts a listener at the root, in a framework or after middleware that wraps the response. */
export const middleware = {
  'Express with compression': (plants) => express().use(compression(), plants),
  // These versions use on-headers 1.0, which misreads an array of headers.
  'Express with morgan 1.10.0, express-session 1.18.1 and compression 1.7.4': (plants) =>
    express().use(
      morgan('tiny', quiet),
      session({ secret: 'secret', resave: false, saveUninitialized: true }),
      oldCompression(),
      plants,
    ),
  'h3 2': (plants) => toNodeHandler(new H3().use(fromNodeHandler(plants))),
  'Koa with koa-compress': (plants) => {
    const app = new Koa();
    app.use(koaCompress());
    app.use(({ req, res }) => plants(req, res));
    return app.callback();
  },
  'Fastify with @fastify/compress': (plants) =>
    fastifyApp([fastifyCompress, middie], (request, response) => plants(request, response)),
};

/** Each function mounts a listener under /garden. Each framework removes the prefix from the URL in its own way. */
export const prefixes = {
  connect: (plants) => connect().use('/garden', plants),
  Express: (plants) => express().use('/garden', plants),
  'an Express app in a connect app': (plants) => connect().use('/garden', express().use(plants)),
  'Fastify with middie': (plants) => fastifyApp([middie], '/garden', (request, response) => plants(request, response)),
  'h3 1': (plants) => toNodeListener(createApp().use('/garden', fromNodeMiddleware(plants))),
  'NestJS on Express': (plants) => nestApp(undefined, '/garden', plants),
  'NestJS on Fastify': async (plants) => {
    const instance = await nestApp(new FastifyAdapter(), '/garden', plants);
    await instance.ready();
    return instance.routing;
  },
};
