package workloads

import "github.com/podwright/podwright/internal/caches"

// Trim is a transform for informers of pods, claims, revisions and nodes: it
// drops from an object what no controller of podwright reads, which is half of
// a pod. It is for whoever shares the informers among several controllers; those
// that a controller makes itself are trimmed.
//
//	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(workloads.Trim))
func Trim(object any) (any, error) { return caches.Trim(object) }
