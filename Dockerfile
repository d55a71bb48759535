# Kedge with the drivers of all servers in compose.yaml; docs/how-to/stores.md says how to use it.
FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml hatch_build.py requirements.lock README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/kedge \
 && /opt/kedge/bin/pip install --no-cache-dir -c requirements.lock '.[mcp,milvus,neo4j,postgresql,qdrant,redis]'

FROM python:3.11-slim
RUN groupadd --system --gid 10001 kedge \
 && useradd --system --uid 10001 --gid kedge --shell /usr/sbin/nologin --create-home --home-dir /var/lib/kedge kedge
COPY --from=build /opt/kedge /opt/kedge
ENV PATH=/opt/kedge/bin:$PATH KEDGE_HOME=/var/lib/kedge/home PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /var/lib/kedge
# The home is a folder in it, so that a restore can change its place.
VOLUME /var/lib/kedge
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["kedge"]
CMD ["serve", "--host", "0.0.0.0"]
