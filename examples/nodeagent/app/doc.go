// SPDX-License-Identifier: Apache-2.0

// Package app is the node agent: it shows how a program embeds the features of
// podwright that run on every node. Run starts one in the calling process, as tests
// do; Main is the whole command, with flags, logging and signals.
//
// An agent needs the name of its node, a socket of the container runtime, and the
// rights in rbac/nodeagent.yaml; --print-rbac prints them for other flags. It runs
// as a DaemonSet in the network of the node, with the runtime's socket mounted, or
// as a service of the node. The namespace kruise-daemon-config has to exist: there it
// finds pull secrets. It elects no leader. "make build" builds it; the package
// comment of [github.com/podwright/podwright/nodeagent] says why with -tags=grpcnotrace.
//
// What it writes is held to its node by the admission policies in rbac/policies.yaml,
// which --print-policies prints. Package install has a DaemonSet whose tokens name their
// nodes; that of a service is bound to the Node.
//
// # Differences
//
// From the daemon of OpenKruise 1.4, whose flags are all accepted:
//   - the runtime is found at more places: in /run too, not only at those at which
//     manifests of OpenKruise mount it. --cri-endpoint names it outright.
//   - sockets of Docker and Pouch are not looked for, but that of cri-dockerd: they speak
//     no CRI v1.
//   - of several runtimes that answer the one is taken that the status of the node names,
//     not the first that is found.
//   - the pods of the node are those of its kubelet, if that serves them (since
//     Kubernetes 1.37) and its socket is mounted: see package kubeletpods. With
//     --pods=kubelet the agent has no rule to list and watch pods at the API server.
//   - an agent whose runtime does not answer waits a minute before it gives up. It
//     keeps running when the runtime goes away later. /readyz tells of it; /healthz,
//     for the liveness of the process, does not.
//   - a feature whose CRD is missing begins when the CRD is installed, within two
//     minutes, and the agent is ready without it. The log and /readyz?verbose say
//     what is waited for.
//   - secrets are read in the namespace kruise-daemon-config alone, into which the manager
//     copies those that jobs name, unless --read-source-secrets says otherwise.
//   - profiles are not served unless asked for.
//   - requests to the API server are not limited by the client.
package app
