// SPDX-License-Identifier: Apache-2.0

// Package cluster runs a real Kubernetes control plane on this machine. That is etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, built from their Go modules, and nodes simulated by KWOK. It needs a Go
// toolchain and nothing else: no container runtime, no root, no downloaded binaries. If these are at hand, it can have
// real nodes too.
//
//	c, err := cluster.Start(ctx, cluster.Options{Log: os.Stderr})
//	if err != nil { … }
//	defer c.Stop()
//	client := kubernetes.NewForConfigOrDie(c.Config())
//
// The first start on a machine compiles the components, which takes some minutes; later ones take seconds.
//
// # What the simulated nodes do
//
// A pod bound to a node becomes Running, with container statuses, an IP and the conditions a kubelet sets. Readiness gates
// are left to their owners; Ready follows them and the containers' ready fields. A changed container image restarts that
// container in place: new image, imageID and containerID, restartCount + 1, same pod, same IP. A container whose status is
// set to terminated (a crash played by a test) is started again as restartPolicy says. Pods with another restartPolicy
// than Always run for a second and succeed. Deleted pods go when they have no finalizers.
//
// Images are not pulled, but some names mean something:
//   - "/bad" in the name or the tag ":bad": cannot be pulled, the container waits in ImagePullBackOff;
//   - "/fail" or ":fail": exits with code 1, in pods that run to completion;
//   - "/forever" or ":forever": does not exit, in pods that run to completion.
//
// # Real nodes
//
// Options.RealNodes and AddRealNode make nodes that run containers: a kubelet and a containerd each, built from their Go
// modules as well. They need Linux, root, runc, CNI plugins, iproute2 and a static busybox; RealNodesMissing says which of them
// a machine lacks and how to install it.
//
// A real node looks like another machine. It has namespaces of its own for processes, mounts, the network and control
// groups, and own places in /run, /var/lib and /var/log. So several run side by side, for several programs at once. They
// change nothing on this machine but two limits of inotify, which is logged. A bridge connects the nodes of a cluster and
// this machine; pods are reached by their addresses from all of them, and reach nothing else. There are no cluster DNS
// and no service addresses.
//
// Images are pulled, from the registry that Images returns, whatever host their names have: see package registry.
//
// # What happens when the program dies
//
// Every child process holds one end of a pipe and exits when the other end closes. The kernel closes it for whatever
// reason the program ends: return, panic, Ctrl-C, kill -9. A temporary directory is then removed by the last of them.
// With the first process of a real node, the kernel ends all others there, its mounts and its network. The bridge and
// empty control groups stay after a kill -9, until the next cluster with real nodes starts.
package cluster
