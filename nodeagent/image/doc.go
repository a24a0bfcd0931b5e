// SPDX-License-Identifier: Apache-2.0

// Package image pulls images to a node, before pods there need them.
//
// The NodeImage of the node says which: package nodeimage of the cluster's half
// manages it, and package imagepulljob puts the tasks in. This package pulls
// through the container runtime, and reports in the status.
//
// Every reconcile has three steps. Observe reads the NodeImage from a cache, and what
// the agent knows of its pulls, into a [Snapshot]. If tasks are to begin, it also reads
// which images the runtime has. [NewPlan], a pure function, decides. A [Plan] lists the
// attempts to start and to cancel, the status to write, and what every other task waits
// for. Apply applies the plan. An attempt goes on by itself, and its end enqueues the
// NodeImage.
//
// A task costs two writes, one when it begins and one when it ends, and what
// happens within two seconds goes into one. While nothing changes, no request is sent
// and nothing is written. Of secrets, only those are read that a task refers to,
// one by one. Nothing is kept on disk. An agent that is started again goes on with
// what is not finished, by the status and by what the runtime has.
//
// # Images and tenants
//
// What is pulled here is there for every pod of the node, as the kubelet sees it. The
// kubelet of Kubernetes 1.35 and later notes with which credentials it has pulled an
// image. It lets pods use it only if they have them, too. An image that came
// through the container runtime, as from here, has no such note. It is "preloaded",
// and with the kubelet's default imagePullCredentialsVerificationPolicy,
// NeverVerifyPreloadedImages, any pod of the node may run it, whichever secret has
// pulled it. If tenants share nodes and have private images, set AlwaysVerify in
// the configuration of the kubelet. Pods then prove their credentials to the
// registry, and take the layers from the node. Before 1.35, the admission plugin
// AlwaysPullImages does the same at a higher price. The manager can have the kubelet pull
// instead, without this package: see nodeimage.PullPods.
//
// A tag that several namespaces ask for is pulled once, with the secrets of all of
// them. That it is there, and that it exists, is no secret among them.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
//
// # Differences
//
// Tasks, states and events are those of OpenKruise 1.4. If its agent harms
// users, this one does otherwise:
//
//   - A task is reported as Pulling when it is found, not when its pull ends. The
//     manager fails a task that nothing is heard of, and 1.4 failed every pull of
//     more than a minute. A task that waits for its turn is Pulling too.
//   - Images are pulled by digest as name@sha256:…, which runtimes take.
//   - Images of Docker Hub are found among those that the node has, by their full
//     names (docker.io/library/nginx:1.27), and so are digests.
//   - A credential for a path of a registry is for that path and what is below it.
//     The one of the longest path is tried first. That of Docker Hub is for Docker
//     Hub only, and not shown to other registries.
//   - Options.Concurrency limits the pulls at the same time. The namespaces that own
//     the tasks take turns. One that waits between two attempts holds no other up;
//     nor does a registry that does not answer. Timeouts and repetitions have bounds.
//   - Deadlines count from the start that was reported, also after a restart of
//     the agent.
//   - An attempt goes on until its time is up while the runtime does not answer. So it
//     does while the API server does not, which is asked for secrets. A restart costs
//     none.
//   - There is no pause after the last attempt, and an image whose name no runtime
//     could pull fails at once.
//   - Why an attempt failed stands in the message while the next is waited for.
//   - A task that is taken away while it is pulled is no failure, and no event is
//     recorded about it.
//   - Secrets are read anew after an attempt that failed. Secrets that may not be
//     read are left out like those that do not exist. The message of a task
//     that fails names them to their owner.
//   - Secrets are read in the namespace kruise-daemon-config, where the manager copies
//     them to. They are used for the tasks of those alone whose they are. 1.4 reads them
//     in the namespaces of jobs, so that the agent of any node can read any secret. It uses
//     all secrets of an image for all that ask for it.
//     [Options.ReadSourceSecrets] reads them there, for clusters in which
//     nodes or managers of both kinds work.
//   - Errors are shown without what is secret in them, and cut.
//   - The status is written as a merge patch of what has changed, and not
//     refreshed if nothing has. firstSyncStatus is left unchanged.
//   - The message of a tag says that it has waited for its turn for a minute. (IMG-3.13)
package image
