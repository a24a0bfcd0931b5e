// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// machine is a workload of a kind that no informer is for.
func machine(name string) metav1.OwnerReference {
	return ownerOf("shop.io/v1", "Machine", name, "uid")
}

// least has a budget say how many pods have to be available.
func least(b *v1alpha1.PodUnavailableBudget, n string) *v1alpha1.PodUnavailableBudget {
	value := intstr.Parse(n)
	b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, &value
	return b
}

// quarantined takes a pod out of the selector of its workload and its budget, so that the workload releases it.
const quarantined = `{"metadata":{"labels":{"app":"debug"},"ownerReferences":null}}`

// successor has a CloneSet be deleted, which a finalizer holds, and pods come of another one of its name, for a while.
func (s *stage) successor(settled string) int32 {
	s.object("apps.kruise.io/v1alpha1/clonesets", `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"web","namespace":"default","finalizers":["shop.io/hold"]},`+
		`"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}}}}`)
	s.remove(webPath)
	s.pods(ownerOf("apps.kruise.io/v1alpha1", "CloneSet", "web", "successor"), 3)
	s.createBudget(newBudget("web", "1"))
	s.settled = settled
	return 3
}

// situations are the rows of TestTable.
var situations = []situation{
	// The kind of the owner.
	{name: "PUB-3: a CloneSet", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1"))
		return 3
	}},
	{name: "PUB-3: the last old pod of a Deployment", want: "2 of 1 available, 1 desired, 1 allowed; 2 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		old, new := s.deployment(1, 0, 1)
		s.pod("old", old)
		s.pod("new", new)
		s.createBudget(newBudget("web", "0", targeting("apps/v1", "Deployment", "web")))
		s.asked = []string{"old"}
		return 1
	}},
	{name: "PUB-3: half of a Deployment is rolled out", want: "4 of 4 available, 3 desired, 1 allowed; 4 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		old, new := s.deployment(4, 2, 2)
		s.pods(old, 2)
		s.pod("y", new)
		s.pod("z", new)
		s.createBudget(newBudget("web", "25%", targeting("apps/v1", "Deployment", "web")))
		return 4
	}},
	{name: "PUB-4: the last old pod of a Deployment, by selector", want: "2 of 1 available, 1 desired, 1 allowed; 2 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		old, new := s.deployment(1, 0, 1)
		s.pod("old", old)
		s.pod("new", new)
		s.createBudget(newBudget("web", "0", bySelector))
		s.asked = []string{"old"}
		return 1
	}},
	{name: "PUB-2: a ReplicaSet of a kind with a scale", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.wants["web"] = 3
		s.pods(s.replicaSet("shop.io/v1", "Machine", "uid"), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		return 3
	}},
	{name: "PUB-23: a kind with a scale", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.wants["web"] = 3
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", targeting("shop.io/v1", "Machine", "web")))
		return 3
	}},
	{name: "PUB-23: a kind without a scale", unknown: true, want: "3 of 3 available, 3 desired, 0 allowed; 3 linked | TotalUnknown | CalculateExpectedPodCountFailed | 0 0 0", stands: func(s *stage) int32 {
		s.scales.fails = ErrNotRead
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		return 3
	}},
	{name: "PUB-23: a kind without a scale, and a number that has to be available", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.fails = ErrNotRead
		s.pods(machine("web"), 3)
		s.createBudget(least(newBudget("web", "1", bySelector), "2"))
		return 3
	}},
	{name: "PUB-4: a kind without a scale, and the total in the annotation", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.fails = ErrNotRead
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", bySelector, annotated(v1alpha1.PubProtectTotalReplicasAnnotation, "3")))
		return 3
	}},
	{name: "PUB-23: targetRef of a kind without a scale", unknown: true, want: "3 of 3 available, 3 desired, 0 allowed; 3 linked | TotalUnknown | CalculateExpectedPodCountFailed | 0 0 0", stands: func(s *stage) int32 {
		s.scales.fails = ErrNotRead
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", targeting("shop.io/v1", "Machine", "web")))
		return 3
	}},
	{name: "PUB-23: a kind that cannot be read now", unknown: true, want: "8 of 8 available, 8 desired, 0 allowed; 8 linked | TotalUnknown | CalculateExpectedPodCountFailed | 0 0 0", stands: func(s *stage) int32 {
		s.scales.wants["web"] = 3
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		s.Sleep("5s")
		s.scales.wants["web"], s.scales.fails = 8, errors.New("no answer")
		for _, name := range []string{"v", "w", "x", "y", "z"} {
			s.pod(name, machine("web"))
		}
		return 8
	}},
	{name: "PUB-4: pods of no controller", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.pods(noOwner, 3)
		s.createBudget(newBudget("web", "1", bySelector))
		return 3
	}},
	{name: "PUB-4: static pods", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.pods(ownerOf("v1", "Node", "n1", "uid-n1"), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		return 3
	}},

	// What becomes of the owner.
	{name: "PUB-3: scaled to 0", want: "0 of 0 available, 0 desired, 0 allowed; 3 linked |  |  | 3 3 3", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1"))
		s.Sleep("1s")
		s.scale(webPath, 0)
		return 0
	}},
	{name: "PUB-13: one workload idles at 0, and one is not known", unknown: true, want: "6 of 5 available, 5 desired, 1 allowed; 6 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.fails = ErrNotRead
		s.cloneSet(0)
		s.pods(machine("web"), 5)
		s.pod("idle", s.owner())
		s.createBudget(least(newBudget("web", "1", bySelector), "5"))
		return 5
	}},
	{name: "PUB-3: the controller is gone", want: "0 of 0 available, 0 desired, 0 allowed; 3 linked |  |  | 3 3 3", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1"))
		s.Sleep("1s")
		s.remove(webPath)
		return 0
	}},
	{name: "PUB-3: one of the name is being deleted, and pods of its successor are seen first", unknown: true,
		want: "3 of 3 available, 3 desired, 0 allowed; 3 linked | TotalUnknown | CalculateExpectedPodCountFailed | 0 0 0", stands: func(s *stage) int32 { return s.successor("30s") }},
	{name: "PUB-3: and they are still alone after a minute", want: "0 of 0 available, 0 desired, 0 allowed; 3 linked |  | CalculateExpectedPodCountFailed | 3 3 3", stands: func(s *stage) int32 {
		s.successor("90s")
		return 0
	}},
	{name: "PUB-4: the controller is gone, by selector", want: "3 of 0 available, 0 desired, 3 allowed; 3 linked |  |  | 3 3 3", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		s.Sleep("1s")
		s.remove(webPath)
		return 0
	}},
	{name: "PUB-23: scaled up, of a kind with a scale", want: "8 of 8 available, 7 desired, 1 allowed; 8 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.scales.wants["web"] = 3
		s.pods(machine("web"), 3)
		s.createBudget(newBudget("web", "1", bySelector))
		s.Sleep("65s")
		s.scales.wants["web"] = 8
		for _, name := range []string{"v", "w", "x", "y", "z"} {
			s.pod(name, machine("web"))
		}
		s.settled = "1500ms"
		return 8
	}},
	{name: "PUB-23: a budget that is older than its workload, of a kind with a scale", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.createBudget(newBudget("web", "1", targeting("shop.io/v1", "Machine", "web")))
		s.Sleep("21s") // a second after the last look
		s.scales.wants["web"] = 3
		s.pods(machine("web"), 3)
		s.settled = "1500ms"
		return 3
	}},

	// Several budgets.
	{name: "PUB-20: two budgets, the one that its pods name", want: "3 of 3 available, 3 desired, 0 allowed; 3 linked |  | PodsElsewhere | 0 0 0", stands: twoBudgets("former", "1", "web", "0")},
	{name: "PUB-20: a budget of which another one has all pods", unknown: true, want: "0 of 0 available, 0 desired, 0 allowed; 0 linked | PodsElsewhere | PodsElsewhere | 0 0 0", stands: func(s *stage) int32 {
		twoBudgets("former", "1", "web", "0")(s)
		s.judged = "former"
		return 3
	}},
	{name: "PUB-20: a budget is renamed", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("former", "1"))
		s.Sleep("1s")
		s.removeBudget("former")
		s.createBudget(newBudget("web", "1"))
		return 3
	}},
	{name: "PUB-20: a budget is renamed, and the new one is made first", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  | PodsElsewhere | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("former", "1"))
		s.Sleep("1s")
		s.createBudget(newBudget("web", "1"))
		s.Sleep("1s")
		s.removeBudget("former")
		return 3
	}},
	{name: "PUB-20: pods move to the selector of another budget", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("former", "2", selecting("web")))
		s.createBudget(newBudget("web", "1", selecting("shop")))
		s.Sleep("1s")
		for _, name := range []string{"a", "b", "c"} {
			s.patchPod(name, `{"metadata":{"labels":{"app":"shop"}}}`)
		}
		return 3
	}},

	// No controller counts, or what was counted is not known.
	{name: "PUB-14.6: tightened while nobody counts", unknown: true, want: "3 of 3 available, 0 desired, 3 allowed; 3 linked |  |  | 0 0 0", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "100%"))
		s.Sleep("1s")
		s.stop()
		s.edit("web", `{"spec":{"maxUnavailable":0}}`)
		return 3
	}},
	{name: "PUB-14.6: tightened from 2 to 1 while nobody counts", unknown: true, want: "3 of 3 available, 1 desired, 2 allowed; 3 linked |  |  | 0 0 0", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "2"))
		s.Sleep("1s")
		s.stop()
		s.edit("web", `{"spec":{"maxUnavailable":1}}`)
		return 3
	}},
	{name: "PUB-34: a cache from before the scale-up", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(0)
		s.createBudget(newBudget("web", "1"))
		s.Sleep("1s")
		s.behind()
		s.scale(webPath, 3)
		s.pods(s.owner(), 3)
		return 3
	}},
	{name: "PUB-34: a cache from before it was tightened", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "100%"))
		s.Sleep("1s")
		s.behind()
		s.edit("web", `{"spec":{"maxUnavailable":1}}`)
		return 3
	}},
	{name: "PUB-34: a cache from when it did not protect from that", want: "3 of 3 available, 2 desired, 1 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1", annotated(v1alpha1.PubProtectOperationAnnotation, "DELETE")))
		s.Sleep("1s")
		s.behind()
		s.edit("web", `{"metadata":{"annotations":null}}`)
		return 3
	}},

	// Pods that are taken aside.
	{name: "PUB-35: a pod is quarantined", want: "3 of 3 available, 3 desired, 0 allowed; 4 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 4)
		s.createBudget(newBudget("web", "0", bySelector))
		s.Sleep("1s")
		s.patchPod("d", quarantined)
		s.asked = []string{"d"}
		return 0
	}},
	{name: "PUB-35: a pod is released", want: "3 of 3 available, 3 desired, 0 allowed; 4 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 4)
		s.createBudget(newBudget("web", "0"))
		s.Sleep("1s")
		s.patchPod("d", quarantined)
		s.asked = []string{"d"}
		return 0
	}},
	{name: "PUB-35: a pod of another workload of the kind that names the budget", want: "3 of 3 available, 3 desired, 0 allowed; 4 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "0"))
		s.pod("other", ownerOf("apps.kruise.io/v1alpha1", "CloneSet", "other", "uid-other"), func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{v1alpha1.RelatedPubAnnotation: "web"}
		})
		s.asked = []string{"other"}
		return 0
	}},
	{name: "PUB-47: a pod of a ReplicaSet of another Deployment names the budget", want: "3 of 3 available, 3 desired, 0 allowed; 3 linked |  |  | 1 1 1", stands: func(s *stage) int32 {
		_, set := s.deployment(3, 0, 3)
		s.pods(set, 3)
		s.createBudget(newBudget("web", "0", targeting("apps/v1", "Deployment", "web")))
		s.object("apps/v1/deployments", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"other","namespace":"default"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`)
		s.object("apps/v1/replicasets", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"other-1","namespace":"default","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"other","uid":%q,"controller":true}]},`+
			`"spec":{"replicas":1,"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`, s.uid("/apis/apps/v1/namespaces/default/deployments/other")))
		s.pod("other", ownerOf("apps/v1", "ReplicaSet", "other-1", s.uid("/apis/apps/v1/namespaces/default/replicasets/other-1")), func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{v1alpha1.RelatedPubAnnotation: "web"}
		})
		s.asked = []string{"other"}
		return 0
	}},
	{name: "PUB-8: a pod is set aside by its label", want: "2 of 3 available, 2 desired, 0 allowed; 3 linked |  |  | 0 0 0", stands: func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget("web", "1"))
		s.Sleep("1s")
		s.patchPod("c", `{"metadata":{"labels":{"unavailable-pod.kruise.io/a":""}}}`)
		s.asked = []string{"a", "b"}
		return 3
	}},
}

// twoBudgets is a budget by targetRef, and then one by selector over the same pods.
func twoBudgets(first, allows, second, andThat string) func(*stage) int32 {
	return func(s *stage) int32 {
		s.cloneSet(3)
		s.pods(s.owner(), 3)
		s.createBudget(newBudget(second, andThat))
		s.Sleep("1s")
		s.createBudget(newBudget(first, allows, bySelector))
		return 3
	}
}
