// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

type podOption func(*corev1.Pod)

// newPod builds a pod that runs on node n-<name>, and has been there and Ready
// since the epoch.
func newPod(name string, options ...podOption) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(epoch),
			Labels: map[string]string{}, Annotations: map[string]string{},
		},
		Spec: corev1.PodSpec{NodeName: "n-" + name},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main"}, {Name: "proxy"}},
		},
	}
	readySince(0)(pod)
	for _, option := range options {
		option(pod)
	}
	return pod
}

func onNode(name string) podOption { return func(p *corev1.Pod) { p.Spec.NodeName = name } }

func inPhase(phase corev1.PodPhase) podOption {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func readySince(seconds int) podOption {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second)),
		}}
	}
}

func readySinceUnknown(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.Time{} }

func restarts(main, proxy int32) podOption {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].RestartCount = main
		p.Status.ContainerStatuses[1].RestartCount = proxy
	}
}

func created(seconds int) podOption {
	return func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
	}
}

func label(key, value string) podOption { return func(p *corev1.Pod) { p.Labels[key] = value } }

func cost(value string) podOption {
	return func(p *corev1.Pod) { p.Annotations[corev1.PodDeletionCost] = value }
}

func names(pods []*corev1.Pod) string {
	all := make([]string, len(pods))
	for i, pod := range pods {
		all[i] = pod.Name
	}
	return strings.Join(all, " ")
}

// shuffled returns the pods in several orders, always the same ones.
func shuffled(pods []*corev1.Pod) (lists [][]*corev1.Pod) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		list := append([]*corev1.Pod(nil), pods...)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		lists = append(lists, list)
	}
	return lists
}

func TestSortForDeletion(t *testing.T) {
	allButBroken := func(p *corev1.Pod) bool { return !strings.HasPrefix(p.Name, "broken") }
	zones := func(node, key string) string {
		if key != corev1.LabelTopologyZone {
			return ""
		}
		zone, _, _ := strings.Cut(node, "-")
		return strings.TrimPrefix(zone, "lost")
	}
	byZone := []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelTopologyZone}}
	byHost := []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname}}
	both := append(append([]corev1.TopologySpreadConstraint(nil), byZone...), byHost...)

	for _, tt := range []struct {
		name    string
		options DeletionOptions
		pods    []*corev1.Pod // in the order wanted
	}{
		{name: "CS-25: no node first, whatever else",
			pods: []*corev1.Pod{newPod("b", onNode("")), newPod("a", inPhase(corev1.PodPending), notReady)}},
		{name: "CS-25: Pending, Unknown, Running",
			pods: []*corev1.Pod{newPod("c", inPhase(corev1.PodPending)), newPod("b", inPhase(corev1.PodUnknown)), newPod("a")}},
		{name: "CS-25: unavailable before not Ready", options: DeletionOptions{Available: allButBroken},
			pods: []*corev1.Pod{newPod("broken"), newPod("a", notReady), newPod("b")}},
		{name: "CS-25: not Ready before cost",
			pods: []*corev1.Pod{newPod("b", notReady, cost("100")), newPod("a", cost("-100"))}},
		{name: "CS-25: lower deletion cost",
			pods: []*corev1.Pod{newPod("d", cost("-2147483648")), newPod("c", cost("-1")), newPod("b"), newPod("a", cost("10"))}},
		{name: "CS-25: a cost that is not valid is 0",
			pods: []*corev1.Pod{newPod("z", cost("-1")), newPod("a", cost("+5")), newPod("b", cost("05")), newPod("c", cost("0")),
				newPod("d", cost("2147483648")), newPod("e", cost("many")), newPod("f", cost("")), newPod("g", cost("1.5")), newPod("0", cost("1"))}},
		{name: "CS-25: cost before rank",
			pods: []*corev1.Pod{newPod("c", cost("-1")), newPod("a", onNode("n")), newPod("b", onNode("n"))}},
		{name: "CS-25: rank before ready time",
			pods: []*corev1.Pod{newPod("b", onNode("n")), newPod("a", onNode("m"), readySince(60)), newPod("c", onNode("n"))}},
		{name: "CS-25: ready for the shorter time",
			pods: []*corev1.Pod{newPod("d", readySinceUnknown), newPod("c", readySince(60)), newPod("b", readySince(30), restarts(9, 9)), newPod("a")}},
		{name: "CS-25: ready time of a pod that is not Ready does not count",
			pods: []*corev1.Pod{newPod("a", notReady), newPod("b", readySince(60), notReady)}},
		{name: "CS-25: more restarts, of the worst container",
			pods: []*corev1.Pod{newPod("c", restarts(0, 5)), newPod("b", restarts(4, 4)), newPod("a", restarts(3, 0), created(60))}},
		{name: "CS-25: younger",
			pods: []*corev1.Pod{newPod("c", created(60)), newPod("b", created(30)), newPod("a")}},
		{name: "difference: the name at last",
			pods: []*corev1.Pod{newPod("a"), newPod("b"), newPod("c")}},

		{name: "CS-25: same node, ranks 2 1 0 and 1 0 and 0",
			pods: []*corev1.Pod{
				newPod("a1", onNode("a")), // rank 2
				newPod("a2", onNode("a")), // rank 1
				newPod("b1", onNode("b")), // rank 1
				newPod("a3", onNode("a")), newPod("b2", onNode("b")), newPod("c1", onNode("c")),
			}},
		{name: "CS-25: with constraints the crowded zone, not the crowded node",
			options: DeletionOptions{Constraints: byZone, Topology: zones},
			pods: []*corev1.Pod{
				newPod("a1", onNode("x-1")), newPod("a2", onNode("x-2")),
				newPod("b1", onNode("y-1")),
				newPod("a3", onNode("x-3")), newPod("b2", onNode("y-1")),
			}},
		{name: "CS-25: within a zone the crowded node first",
			options: DeletionOptions{Constraints: byZone, Topology: zones},
			pods: []*corev1.Pod{
				newPod("c", onNode("x-2")), // rank 1 on its node
				newPod("a", onNode("x-1")), newPod("b", onNode("x-3")), newPod("d", onNode("x-2")),
			}},
		{name: "CS-25: constraint on the host name",
			options: DeletionOptions{Constraints: byHost},
			pods: []*corev1.Pod{
				newPod("c", onNode("n")), newPod("d", onNode("n")),
				newPod("a", onNode("l")), newPod("b", onNode("m")), newPod("e", onNode("n")),
			}},
		{name: "CS-25: constraints add up",
			options: DeletionOptions{Constraints: both, Topology: zones},
			pods: []*corev1.Pod{
				// Zone x has 3 pods, y has 2: weight ln 4. Three hosts: weight ln 5.
				newPod("c", onNode("x-2")), // 2 ln 4 + 1 ln 5
				newPod("a", onNode("x-1")), // 1 ln 4 + 0
				newPod("b", onNode("y-1")), // 1 ln 4 + 0
				newPod("d", onNode("x-2")), newPod("e", onNode("y-2")),
			}},
		{name: "CS-25: a constraint over more places weighs more",
			options: DeletionOptions{Constraints: both, Topology: zones},
			pods: []*corev1.Pod{
				// Two zones: weight ln 4. Four hosts: weight ln 6.
				newPod("b1", onNode("y-1")), // 1 ln 4 + 1 ln 6
				newPod("a1", onNode("x-1")), // 2 ln 4
				newPod("a2", onNode("x-2")), newPod("a3", onNode("x-3")), newPod("b2", onNode("y-1")),
			}},
		{name: "CS-25: but only by the logarithm of the places and 2",
			options: DeletionOptions{Constraints: both, Topology: zones},
			pods: []*corev1.Pod{
				// Two zones: weight ln 4. Nine hosts: weight ln 11.
				newPod("a1", onNode("x-1")), // 5 ln 4
				newPod("b0", onNode("y-0")), // 3 ln 4 + 1 ln 11
				newPod("a2", onNode("x-2")), newPod("a3", onNode("x-3")), newPod("a4", onNode("x-4")),
				newPod("b1", onNode("y-1")), newPod("a5", onNode("x-5")), newPod("b2", onNode("y-2")),
				newPod("a6", onNode("x-6")), newPod("b9", onNode("y-0")),
			}},
		{name: "CS-25: a node without the label belongs to no place",
			options: DeletionOptions{Constraints: byZone, Topology: zones},
			pods: []*corev1.Pod{
				newPod("c", onNode("x-1")),
				newPod("a", onNode("lost-1")), newPod("b", onNode("lost-1")), newPod("d", onNode("x-2")),
			}},
		{name: "CS-25: constraints without a topology function leave only the host name",
			options: DeletionOptions{Constraints: byZone},
			pods:    []*corev1.Pod{newPod("a", onNode("n")), newPod("b", onNode("m")), newPod("c", onNode("n"))}},
		{name: "no pods"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, list := range shuffled(tt.pods) {
				given := names(list)
				if diff := cmp.Diff(names(tt.pods), names(SortForDeletion(list, tt.options))); diff != "" {
					t.Fatalf("order (-want +got):\n%s", diff)
				}
				if names(list) != given {
					t.Fatalf("the list that was given is changed to %s", names(list))
				}
			}
		})
	}
}
