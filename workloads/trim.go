// SPDX-License-Identifier: Apache-2.0

package workloads

import "github.com/podwright/podwright/internal/caches"

// Trim is a transform for informers of pods, claims, revisions, nodes and Kubernetes' own workloads that
// several controllers share. Those that a controller makes itself are trimmed. It
// drops what no controller of podwright reads:
//
//   - of every object metadata.managedFields;
//   - of a pod spec.topologySpreadConstraints, hostAliases, dnsConfig
//     and imagePullSecrets, and status.podIPs and hostIPs;
//   - of a node status.images, volumesInUse and volumesAttached;
//   - of a Deployment, a ReplicaSet, a StatefulSet of Kubernetes and a ReplicationController
//     the annotations and templates, but for the annotation of a ReplicaSet with its revision. A StatefulSet
//     keeps the annotations that ask for a PersistentPodState.
//
// Other readers of such an informer must not take for empty what is missing. They
// must not write an object from it back with an update, which would remove these
// fields from the cluster, or be refused. Send patches, or read the object anew.
// Do not set it on an informer whose objects other code updates.
//
//	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(workloads.Trim))
func Trim(object any) (any, error) { return caches.Trim(object) }
