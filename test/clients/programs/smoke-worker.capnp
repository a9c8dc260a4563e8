using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-01-01",
      globalOutbound = "outside",
      bindings = [
        (name = "URL", fromEnvironment = "URL"),
        (name = "KEY", fromEnvironment = "KEY"),
        (name = "BRAND", fromEnvironment = "BRAND"),
        (name = "SECRET", fromEnvironment = "SECRET"),
      ],
    )),
    (name = "outside", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
