# Kedge with the drivers of all servers in compose.yaml; docs/how-to/stores.md says how to use it.
FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY src src
RUN python -m venv /opt/kedge \
 && /opt/kedge/bin/pip install --no-cache-dir -c requirements.lock '.[milvus,neo4j,postgresql,qdrant,redis]'

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/kedge kedge
COPY --from=build /opt/kedge /opt/kedge
ENV PATH=/opt/kedge/bin:$PATH KEDGE_HOME=/var/lib/kedge/home PYTHONUNBUFFERED=1
USER kedge
WORKDIR /var/lib/kedge
VOLUME /var/lib/kedge
EXPOSE 8000
ENTRYPOINT ["kedge"]
CMD ["serve", "--host", "0.0.0.0"]
