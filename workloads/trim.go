// SPDX-License-Identifier: Apache-2.0

package workloads

import "github.com/podwright/podwright/internal/caches"

// Trim is a transform for informers of pods, claims, revisions, nodes and Kubernetes' own workloads that
// several controllers share. Those that a controller makes itself are trimmed. It
// drops what no controller of podwright reads:
//
//   - of every object metadata.managedFields;
//   - of a pod spec.topologySpreadConstraints, hostAliases, dnsConfig
//     and imagePullSecrets, status.podIPs and hostIPs, and the volume
//     kube-api-access-... that the API server adds for the token;
//   - of a node status.images, volumesInUse and volumesAttached;
//   - of a Deployment, a ReplicaSet, a StatefulSet of Kubernetes and a ReplicationController the annotations
//     and templates. The annotation of a ReplicaSet with its revision stays. A StatefulSet keeps the
//     annotations that ask for a PersistentPodState.
//
// And it shares memory. If parts of a pod, a claim, a node or a NodeImage equal those of another one, both share them in
// memory. That holds for containers, volumes, maps, strings. So a pod of a large workload takes a fifth to a third of the
// memory. Each object is what it was, byte for byte. The other object may be in the cache of another informer. What objects
// share is freed with the last of them.
//
// Hence the contract. Let Trim be the last step of a transform. What it returns must not be changed, as no object of a cache
// may be. A change would show in other objects, too. Change a DeepCopy, which shares nothing but strings. To append to a
// slice of the object is safe: none has room behind its end that others have as well.
//
// Other readers of such an informer must not take for empty what is missing. They
// must not write an object from it back with an update, which would remove these
// fields from the cluster, or be refused. Send patches, or read the object anew.
// Do not set it on an informer whose objects other code updates.
//
//	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(workloads.Trim))
func Trim(object any) (any, error) { return caches.Trim(object) }
