// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on. Its objects are shared with
// caches; nothing in this package changes them.
type Snapshot struct {
	// Requests are the active requests for one pod name, in any order. Those
	// that are completed or being deleted do not count.
	Requests []*v1alpha1.ContainerRecreateRequest
	// Runtime is the name of the container runtime, "containerd" for example.
	Runtime string
	// Containers are those that the runtime has of the pod of the request that
	// is chosen, in any order. See chosen.
	Containers []*criv1.Container
	// Sandbox is that of the newest of them. Without it, or with labels of another
	// pod, they count as those of another pod, and nothing is stopped.
	Sandbox *criv1.PodSandboxStatus
	// RuntimeErr is why the runtime could not be asked. Nothing is said of
	// containers then.
	RuntimeErr error
	// Started is since when containers run, by the ID that the runtime has for
	// them. It is asked for only if the chosen request has
	// minStartedSeconds; a container that is not in it has not run long enough.
	Started map[string]time.Time
	// Seen is since when the agent knows of the requests, by their UIDs. Of a
	// request that is not in it, the times that stand in it count, as if the
	// clocks of the cluster were one.
	Seen map[types.UID]Seen
	// Stopping are the namespaces whose containers the workers wait for, with their numbers: "shop (3)". A request that waits for a worker
	// says so. Empty if that is not known.
	Stopping string
	// Now is the time for which to plan.
	Now time.Time

	key types.NamespacedName // of the pod
}
