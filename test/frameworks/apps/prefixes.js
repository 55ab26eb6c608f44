// Frameworks that mount the service under /garden. Each removes the prefix from the URL in its own way.
import middie from '@fastify/middie';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import connect from 'connect';
import express from 'express';
import fastify from 'fastify';
import { createApp, fromNodeMiddleware, toNodeListener } from 'h3-1';

const nest = async (adapter, plants) => {
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.create(AppModule, adapter, { logger: false });
  app.use('/garden', plants);
  await app.init();
  return app.getHttpAdapter().getInstance();
};

/** Each function mounts a listener of the service, and returns the listener of the app. */
export const apps = {
  connect: (plants) => connect().use('/garden', plants),
  Express: (plants) => express().use('/garden', plants),
  'an Express app in a connect app': (plants) => connect().use('/garden', express().use(plants)),
  'Fastify with middie': async (plants) => {
    const app = fastify();
    await app.register(middie);
    app.use('/garden', (request, response) => plants(request, response));
    await app.ready();
    return app.routing;
  },
  'h3 1': (plants) => toNodeListener(createApp().use('/garden', fromNodeMiddleware(plants))),
  'NestJS on Express': (plants) => nest(undefined, plants),
  'NestJS on Fastify': async (plants) => {
    const instance = await nest(new FastifyAdapter(), plants);
    await instance.ready();
    return instance.routing;
  },
};
