# docker build --tag patzer .
# docker run --rm --volume "$PWD:/games" patzer extract games.pgn
FROM rust:1-slim-bookworm AS build
WORKDIR /patzer
COPY . .
RUN cargo build --release --locked --bin patzer --bin patzer-uci

FROM debian:bookworm-slim
COPY --from=build /patzer/target/release/patzer /patzer/target/release/patzer-uci /usr/local/bin/
WORKDIR /games
ENTRYPOINT ["patzer"]
