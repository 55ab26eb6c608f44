/** All URLs are relative, so that the page also works if a proxy removes a path prefix from requests. */
export const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant Store</title>
    <link rel="icon" type="image/png" href="docs/icon.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page requires JavaScript.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * Adapts the style of Swagger UI. Hides the column for links, because the service's OpenAPI document does not define
 * links. On narrow screens, keeps buttons inside their box, and places buttons below the text of a response instead of
 * over it.
 */
export const css = `.swagger-ui .response-col_links {
  display: none;
}
@media (max-width: 640px) {
  .swagger-ui .btn.try-out__btn {
    margin-left: 4px;
    padding: 5px 10px;
  }
  .swagger-ui .responses-inner .highlight-code > .microlight {
    padding-bottom: 50px !important;
  }
}
`;

/**
 * The script that starts Swagger UI. Because `validatorUrl` is null, Swagger UI does not send the OpenAPI document to a
 * validator on another host.
 *
 * The page shows only a part of the document, because it would otherwise be very long on a phone. It omits HEAD and
 * OPTIONS, the descriptions of response headers, and the bodies of errors, which are the same for all errors. It puts all
 * operations under one heading.
 */
export const startScript = `function shorten(document) {
  const errors = Object.values(document.components.responses);
  for (const path of Object.values(document.paths)) {
    delete path.head;
    delete path.options;
    for (const operation of Object.values(path)) {
      operation.tags = ['Operations'];
      for (const [status, response] of Object.entries(operation.responses)) {
        delete response.headers;
        if (status >= 400) errors.push(response);
      }
    }
  }
  for (const response of errors) {
    delete response.headers;
    delete response.content;
  }
  return document;
}

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [
    {
      statePlugins: {
        spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(shorten(document)) } },
      },
    },
  ],
  layout: 'BaseLayout',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

/**
 * The Content-Security-Policy of the page. Swagger UI 5.35.0 needs exactly these sources. It needs `data:` for images,
 * because the icons in its style sheet are data URLs. It does not need 'unsafe-inline' for styles, because it sets
 * inline styles only through the CSSOM.
 */
export const contentSecurityPolicy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
