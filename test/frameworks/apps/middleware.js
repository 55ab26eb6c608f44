// Apps whose middleware replaces methods of the response, and frameworks that adapt the listener.
import fastifyCompress from '@fastify/compress';
import middie from '@fastify/middie';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import compression from 'compression';
import oldCompression from 'compression-1.7.4';
import express from 'express';
import session from 'express-session';
import fastify from 'fastify';
import { fromNodeHandler, H3, toNodeHandler } from 'h3';
import { createApp, fromNodeMiddleware, toNodeListener } from 'h3-1';
import Koa from 'koa';
import koaCompress from 'koa-compress';
import morgan from 'morgan';
import { createRequire } from 'node:module';

const nextCompression = createRequire(import.meta.url)('next/dist/compiled/compression');
const quiet = { stream: { write() {} } };

function expressApp(...middleware) {
  const app = express();
  for (const each of middleware) app.use(each);
  return app;
}

/** Each function mounts a listener of the service, and returns the listener of the app. */
export const apps = {
  'Express with compression': (plants) => expressApp(compression(), plants),
  // These use on-headers 1.0, which misreads an array of headers.
  'the copy of compression in Next.js': (plants) => expressApp(nextCompression(), plants),
  'Express with morgan 1.10.0, express-session 1.18.1 and compression 1.7.4': (plants) =>
    expressApp(
      morgan('tiny', quiet),
      session({ secret: 'secret', resave: false, saveUninitialized: true }),
      oldCompression(),
      plants,
    ),
  'h3 1': (plants) => toNodeListener(createApp().use(fromNodeMiddleware(plants))),
  'h3 2': (plants) => toNodeHandler(new H3().use(fromNodeHandler(plants))),
  NestJS: async (plants) => {
    class AppModule {}
    Module({})(AppModule);
    const app = await NestFactory.create(AppModule, { logger: false });
    app.use(plants);
    await app.init(); // registers the body parsers, as `listen` does
    return app.getHttpAdapter().getInstance();
  },
  'Koa with koa-compress': (plants) => {
    const app = new Koa();
    app.use(koaCompress());
    app.use(async ({ req, res }) => {
      await plants(req, res);
    });
    return app.callback();
  },
  'Fastify with @fastify/compress': async (plants) => {
    const app = fastify();
    await app.register(fastifyCompress);
    await app.register(middie);
    app.use((request, response) => plants(request, response));
    await app.ready();
    return app.routing;
  },
};
