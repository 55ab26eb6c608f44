/** All URLs are relative, so that the page works even if a proxy removes a path prefix from requests. */
export const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant Store</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page requires JavaScript.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Because `validatorUrl` is null, Swagger UI does not send the OpenAPI document to a validator on another host. */
export const startScript = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
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
export const contentSecurityPolicy: string =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
