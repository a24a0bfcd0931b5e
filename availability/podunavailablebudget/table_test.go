// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// situation is a row of TestTable: what stands before its users ask to take all pods down.
type situation struct {
	name string
	// stands has it come to that, and returns how many pods their owners want that are the budget's.
	stands func(s *stage) (wanted int32)
	// unknown says that the budget cannot know what is wanted, so that it may hold back more than has to stay.
	unknown bool
	// want is the status, the conditions and events, and of how many pods the deletion, eviction and update are allowed at once.
	want string
}

// stage is a cluster in which a situation is staged.
type stage struct {
	*cluster
	scales   *foreign
	webhooks []*Webhook
	judged   string   // the budget
	asked    []string // pods; all that serve if it is empty
	settled  string   // how long it stands; a minute if it is empty
	stop     func()   // stops the controller
}

// foreign are the scales of workloads that no informer is for.
type foreign struct {
	wants map[string]int32 // by name
	fails error
	asked int
}

func (f *foreign) Workload(_ context.Context, _ string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	f.asked++
	wants, found := f.wants[name]
	if f.fails != nil || !found {
		return nil, f.fails
	}
	w := budget.Workload{GroupKind: kind.GroupKind(), Name: name, UID: "uid", Replicas: &wants}
	return &w, nil
}

// pods creates ready pods of an owner, a and so on.
func (s *stage) pods(owner metav1.OwnerReference, n int, changes ...func(*corev1.Pod)) {
	for i := range n {
		s.pod(string(rune('a'+i)), owner, changes...)
	}
}

// deployment is a Deployment with two ReplicaSets, which want some pods.
func (s *stage) deployment(wants, ofOld, ofNew int) (old, new metav1.OwnerReference) {
	d := s.workload("apps/v1", "deployments", "Deployment", fmt.Sprintf(`{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}`, wants))
	set := func(name string, n int) metav1.OwnerReference {
		s.object("apps/v1/replicasets", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":%q,"namespace":"default","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":%q,"controller":true}]},`+
			`"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`, name, d.UID, n))
		return ownerOf("apps/v1", "ReplicaSet", name, s.uid("/apis/apps/v1/namespaces/default/replicasets/"+name))
	}
	return set("web-old", ofOld), set("web-new", ofNew)
}

func (c *cluster) edit(name, patch string) {
	_, err := c.budgets.PodUnavailableBudgets("default").Patch(c.T.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	c.Must(err)
}

// remove deletes a workload, and leaves its pods.
func (s *stage) remove(path string) {
	orphan := metav1.DeletePropagationOrphan
	s.Must(s.Kube.CoreV1().RESTClient().Delete().AbsPath("/apis/" + path).Body(&metav1.DeleteOptions{PropagationPolicy: &orphan}).Do(s.T.Context()).Error())
}

// behind has the webhooks know no later state of budgets than that of now.
func (s *stage) behind() {
	s.T.Helper()
	for _, w := range s.webhooks {
		g, err := NewGuard(GuardOptions{Availability: s.options.Availability, Budgets: s.snapshotOfBudgets()})
		s.Must(err)
		w.Guard = g
	}
}

func (s *stage) removeBudget(name string) {
	s.Must(s.budgets.PodUnavailableBudgets("default").Delete(s.T.Context(), name, metav1.DeleteOptions{}))
}

func (s *stage) patchPod(name, patch string) {
	_, err := s.Kube.CoreV1().Pods("default").Patch(s.T.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
	s.Must(err)
}

// serving are the pods that serve, as their kubelets show them.
func (s *stage) serving() (names []string) {
	for _, pod := range s.Pods() {
		aside := func(key string) bool { return strings.HasPrefix(key, v1alpha1.UnavailablePodLabelPrefix) }
		if pod.DeletionTimestamp == nil && !slices.ContainsFunc(slices.Collect(maps.Keys(pod.Labels)), aside) && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// answers asks about an operation on all pods, through one webhook after the other, and says how many may go.
func (s *stage) answers(operation v1alpha1.PubOperation) (allowed int32) {
	names := s.asked
	if len(names) == 0 {
		names = s.serving()
	}
	for i, name := range names {
		var r *admissionv1.AdmissionRequest
		switch operation {
		case v1alpha1.PubDeleteOperation:
			r = deletion(s.livePod(name), metav1.DeleteOptions{})
		case v1alpha1.PubEvictOperation:
			r = eviction(name, nil)
		default:
			r = update(s.livePod(name), "", newImage)
		}
		r.UserInfo.Username = "system:kube-controller-manager"
		if s.webhooks[i%len(s.webhooks)].ValidatePod(s.T.Context(), r).Allowed {
			allowed++
		}
	}
	return allowed
}

// TestTable plays what may own the pods of a budget, of any kind, and known or not. In each situation the pods that have to serve stay, and
// the pods that may go are gone within a minute.
func TestTable(t *testing.T) {
	for _, tt := range situations {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.play(t); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// play has users ask for each operation in a cluster of its own, judges how many pods may go, and shows what came of it.
func (tt *situation) play(t *testing.T) (got string) {
	var numbers []int32
	for _, operation := range []v1alpha1.PubOperation{v1alpha1.PubDeleteOperation, v1alpha1.PubEvictOperation, v1alpha1.PubUpdateOperation} {
		inCluster(t, func(t *testing.T, c *cluster) {
			s := &stage{cluster: c, scales: &foreign{wants: map[string]int32{}}, judged: "web"}
			_, stop := c.start(func(o *Options) { o.Scales = s.scales })
			s.stop = sync.OnceFunc(stop)
			defer s.stop()
			s.webhooks = []*Webhook{c.webhook(), c.webhook()}
			wanted := tt.stands(s)
			c.Sleep(cmp.Or(s.settled, "1m"))
			served := int32(len(s.serving()))
			asked := served
			if len(s.asked) > 0 {
				asked = int32(len(s.asked))
			}
			got = s.state()
			judged := s.budget(s.judged)
			allowed := s.answers(operation)
			for _, v := range invariants.BudgetServing(judged, wanted, served, asked, allowed) {
				if !tt.unknown || v.Invariant != invariants.Needless {
					t.Errorf("%s: %s: %v", tt.name, operation, v)
				}
			}
			numbers = append(numbers, allowed)
		})
	}
	return got + fmt.Sprintf(" | %d %d %d", numbers[0], numbers[1], numbers[2])
}

// An eviction that something else denies each time, such as a PodDisruptionBudget, does not hold its place for good. (PUB-14.8)
func TestNobodyStarves(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		webhooks, allowed := []*Webhook{c.webhook(), c.webhook()}, map[string]int{}
		longest, since := map[string]int{}, map[string]int{}
		for i := range 720 {
			for _, name := range []string{"a", "b"} {
				if c.Sleep("2500ms"); webhooks[i%2].ValidatePod(t.Context(), eviction(name, nil)).Allowed {
					allowed[name]++
					since[name] = i
				}
				longest[name] = max(longest[name], i-since[name])
			}
		}
		if allowed["a"] == 0 || allowed["b"] == 0 || longest["a"] > 36 || longest["b"] > 36 { // of 5 s
			t.Errorf("of 720 evictions in an hour these are allowed: %v; the longest pauses are %v times 5 s", allowed, longest)
		}
	})
}

// state shows the status of the budget, its conditions and its events.
func (s *stage) state() string {
	var conditions, events []string
	for _, e := range s.Events.All() {
		if reason := strings.TrimSuffix(strings.Fields(e)[1], ":"); !slices.Contains(events, reason) && reason != v1alpha1.NoPodsEvent {
			events = append(events, reason)
		}
	}
	for _, c := range s.budget(s.judged).Status.Conditions {
		if c.Type != v1alpha1.HeldUpCondition { // see TestHeldUp
			conditions = append(conditions, c.Type)
		}
	}
	return s.show(s.judged) + " | " + strings.Join(conditions, " ") + " | " + strings.Join(events, " ")
}
