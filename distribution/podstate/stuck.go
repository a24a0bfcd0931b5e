// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// StuckFor is how long a pod waits for a node that does not exist: a node that is replaced may come back under
// its name. (PPS-19)
const StuckFor = 30 * time.Second

// Stuck is a pod that no node can take any more for what a PersistentPodState has required of it. To be placed
// elsewhere it has to be created again: the node selector of a pod cannot be changed.
type Stuck struct {
	// Pod is the pod, shared with the caches; never nil.
	Pod *corev1.Pod
	// Reason says what it asks for in vain.
	Reason string
	// Since is when it began to wait. After is how long to wait still; 0 if it is to be deleted now.
	Since time.Time
	After time.Duration
}

// FindStuck returns the pods of the workload, by name, that wait for a node which does not exist. It looks at what the state asks
// for, and not at what the pod's own template does. (PPS-19, PPS-20)
func FindStuck(in Input) (all []Stuck) {
	for _, pod := range in.Pods {
		if !podstate.Active(pod) || pod.Spec.NodeName != "" || pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] != in.State.Name {
			continue
		}
		injected := injectedLabels(in.State, pod)
		if len(injected) == 0 || in.Nodes.any("", injected, asksFor(&pod.Spec)) {
			continue
		}
		since := pod.CreationTimestamp.Time
		lost := meta.FindStatusCondition(in.State.Status.Conditions, v1alpha1.TopologyLostCondition)
		if lost != nil && lost.Status == metav1.ConditionTrue && lost.LastTransitionTime.After(since) {
			since = lost.LastTransitionTime.Time
		}
		all = append(all, Stuck{
			Pod: pod, Reason: fmt.Sprintf("it ran at %s, and no node there is as it asks for: it is created again without that", list(injected)),
			Since: since, After: max(StuckFor-in.Now.Sub(since), 0),
		})
	}
	slices.SortFunc(all, func(a, b Stuck) int { return cmp.Compare(a.Pod.Name, b.Pod.Name) })
	return all
}

// injectedLabels are those of the node selector of a pod that a PersistentPodState has put there. OpenKruise does not
// note which: there they are those that it would put there. (PPS-20)
func injectedLabels(s *v1alpha1.PersistentPodState, pod *corev1.Pod) map[string]string {
	noted, found := pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation]
	if !found {
		return podstate.Pick(pod.Spec.NodeSelector, requiredKeys(s)...)
	}
	return podstate.Pick(pod.Spec.NodeSelector, strings.Split(noted, ",")...)
}
