// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

var podWords = patches.Read("testdata/words.yaml", epoch)

// newPod builds a pod that runs on node n-<name>, and has been there and Ready since the epoch, unless words say otherwise. What is no
// word of testdata/words.yaml is a label and its value.
func newPod(name string, words ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(epoch)},
		Spec:       corev1.PodSpec{NodeName: "n-" + name},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(epoch)}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main"}, {Name: "proxy"}},
		},
	}
	var changes []string
	for _, word := range words {
		if !patches.Has[corev1.Pod](podWords, word) {
			word = "label=" + strings.Replace(word, "=", ":", 1)
		}
		changes = append(changes, word)
	}
	return patches.Changed(podWords, pod, changes...)
}

func names(pods []*corev1.Pod) string {
	all := make([]string, len(pods))
	for i, pod := range pods {
		all[i] = pod.Name
	}
	return strings.Join(all, " ")
}

// given is what a script says of pods, each a name and words as newPod reads them.
type given struct {
	PriorityStrategy *inplacev1alpha1.UpdatePriorityStrategy
	ScatterStrategy  inplacev1alpha1.UpdateScatterStrategy
	KeepOrder        bool
	Spread           []string // zone, and host
	Unknown          bool     // nothing tells the labels of nodes
	Available        []string
	Pods             []string

	Refused map[string]int64 // pods, and when the API server refused them; 0 if that is not known
	Denied  map[string]struct {
		Budget       string
		Since, Asked int64
	}
	Now, Until int64
}

func (g given) update() UpdateOptions {
	return UpdateOptions{Priority: g.PriorityStrategy, Scatter: g.ScatterStrategy, KeepOrder: g.KeepOrder}
}

// refusals are what was refused, in seconds.
func (g given) refusals() *Refusals {
	at := func(second int64) (t time.Time) {
		if second > 0 {
			t = time.Unix(second, 0)
		}
		return t
	}
	r := &Refusals{Pods: map[types.UID]error{}, At: map[types.UID]time.Time{}, Denied: map[types.UID]Denial{}, Now: at(g.Now), Until: at(g.Until)}
	for name, second := range g.Refused {
		r.Pods[types.UID(name)], r.At[types.UID(name)] = errors.New("refused"), at(second)
	}
	for name, d := range g.Denied {
		r.Denied[types.UID(name)] = Denial{Budget: d.Budget, Since: at(d.Since), Asked: at(d.Asked)}
	}
	return r
}

var topologyKeys = map[string]string{"zone": corev1.LabelTopologyZone, "host": corev1.LabelHostname}

// deletion are the options of a deletion. The zone of a node stands before a hyphen, and "lost" is none.
func (g given) deletion() (o DeletionOptions) {
	for _, name := range g.Spread {
		o.Constraints = append(o.Constraints, corev1.TopologySpreadConstraint{TopologyKey: topologyKeys[name]})
	}
	if len(g.Available) > 0 {
		o.Available = func(p *corev1.Pod) bool { return slices.Contains(g.Available, p.Name) }
	}
	if !g.Unknown {
		o.Topology = func(node, key string) string {
			if key != corev1.LabelTopologyZone {
				return ""
			}
			zone, _, _ := strings.Cut(node, "-")
			return strings.TrimPrefix(zone, "lost")
		}
	}
	return o
}

// order is the order of pods, or an error.
func (g given) order(command string, pods []*corev1.Pod) string {
	if command == "delete" {
		return names(SortForDeletion(pods, g.deletion()))
	}
	sorted, err := SortForUpdate(pods, g.update())
	if command == "priority" {
		sorted, err = SortByPriority(pods, g.PriorityStrategy)
	}
	if err != nil {
		return err.Error()
	}
	return names(sorted)
}

// TestOrders shows the order in which pods are deleted and updated. Unless ties of a priority go by the place in the list, the order of the
// list does not matter.
func TestOrders(t *testing.T) {
	datadriven.RunTest(t, "testdata/orders.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "scatter":
			return patches.EachLine(d.Input, scatterLine)
		case "integers":
			return patches.EachLine(d.Input, func(line string) string { return fmt.Sprint(trailingInteger(line)) })
		case "refused":
			return patches.EachLine(d.Input, func(line string) string {
				return names(RefusedLast(patches.Object[given](t, line).refusals(), []*corev1.Pod{newPod("a"), newPod("b"), newPod("c"), newPod("d")}, itself))
			})
		}
		g := patches.Object[given](t, d.Input)
		var pods []*corev1.Pod
		for _, text := range g.Pods {
			words := strings.Fields(text)
			pods = append(pods, newPod(words[0], words[1:]...))
		}
		before := names(pods)
		order := g.order(d.Cmd, pods)
		if names(pods) != before {
			t.Errorf("%s: the list that was given is changed to %s", d.Pos, names(pods))
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			if d.Cmd == "priority" || g.PriorityStrategy != nil && !g.KeepOrder {
				break
			}
			random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			if got := g.order(d.Cmd, pods); got != order {
				t.Errorf("%s: %s becomes %s, not %s", d.Pos, names(pods), got, order)
			}
		}
		return order + "\n"
	})
}

// scatterLine scatters pods of a line.
func scatterLine(line string) string {
	letters, strategy, _ := strings.Cut(line, " by")
	letters, others, _ := strings.Cut(letters, " beside ")
	pods := lettered(letters)
	return names(scatter(pods, itself, append(slices.Clone(pods), lettered(others)...), terms(strings.Fields(strategy)...)))
}

// TestWaits shows the subject of what waits, what it says, and the line of a plan.
func TestWaits(t *testing.T) {
	datadriven.RunTest(t, "testdata/waits.txt", func(t *testing.T, d *datadriven.TestData) string {
		return patches.EachLine(d.Input, func(line string) string {
			w := *patches.Object[Wait](t, line)
			if w.Subject.Kind == "pod" {
				w = PodWaits(w.Pod, w.Reason)
			}
			return fmt.Sprintf("%q, %q, %q", w.Subject, w, w.Line())
		})
	})
}

// TestCounts shows numbers of pods in testdata/counts.txt.
func TestCounts(t *testing.T) {
	datadriven.RunTest(t, "testdata/counts.txt", func(t *testing.T, d *datadriven.TestData) string {
		var surge int
		if d.HasArg("surge") {
			d.ScanArgs(t, "surge", &surge)
		}
		count := map[string]func(*intstr.IntOrString, int32) (int32, error){
			"partition": Partition, "maxSurge": MaxSurge, "scaleMaxUnavailable": ScaleMaxUnavailable,
			"maxUnavailable": func(v *intstr.IntOrString, replicas int32) (int32, error) {
				return MaxUnavailable(v, replicas, int32(surge))
			},
		}[d.Cmd]
		return patches.EachLine(d.Input, func(line string) string {
			text, of, _ := strings.Cut(line, " of ")
			n, err := count(value(text), int32(patches.Number(t, of)))
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(n)
		})
	})
}

// value reads a number or a percentage. In quotes it is a text, whatever it says, and nil is none.
func value(text string) *intstr.IntOrString {
	if text == "nil" {
		return nil
	}
	v := intstr.Parse(text)
	if quoted, err := strconv.Unquote(text); err == nil {
		v = intstr.FromString(quoted)
	}
	return &v
}
