// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSides are the two that are compared.
var daemonSides = map[string]schema.GroupVersion{"kubernetes": appsv1.SchemeGroupVersion, "podwright": v1alpha1.SchemeGroupVersion}

// daemonPlay is one guarantee on one side: a namespace with the DaemonSet web, and the nodes a, b and c.
type daemonPlay struct {
	*testbed.Scene
	group   schema.GroupVersion
	spec    string
	sets    *mirror.Mirror[*unstructured.Unstructured]
	history *podhistory.History
	begun   int // changes of pods, when the first pods were there

	generation int64 // of the last change of the set
	moments    []daemonMoment
}

// daemonMoment is all that there is at a settled moment, without what differs between any two namespaces.
type daemonMoment struct {
	At        string
	Status    appsv1.DaemonSetStatus
	Pods      []pod
	Revisions []string
}

func newDaemonPlay(t *testing.T, group schema.GroupVersion, spec string) *daemonPlay {
	t.Helper()
	history := &podhistory.History{}
	p := &daemonPlay{Scene: steady.NewScene(t, history.Observe), group: group, spec: spec, history: history}
	p.sets = testbed.Follow[*unstructured.Unstructured](p.Scene, mirror.Of(p.client()), nil)
	nodes := steady.Core.CoreV1().Nodes()
	for i, letter := range []string{"a", "b", "c"} {
		node := cluster.NewNode(p.node(letter), "", 1000+i)
		node.Labels[p.Namespace], node.Labels["letter"] = "yes", letter
		node.Spec.Taints = []corev1.Taint{{Key: "guarantee", Effect: corev1.TaintEffectNoSchedule}} // pods of other tests stay away
		if _, err := nodes.Create(p.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = nodes.Delete(context.Background(), node.Name, metav1.DeleteOptions{}) })
		p.AwaitAsking("node "+letter+" is ready", func() string {
			stored, err := nodes.Get(p.Context(), node.Name, metav1.GetOptions{})
			if err == nil && slices.ContainsFunc(stored.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) &&
				!slices.ContainsFunc(stored.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady }) {
				return ""
			}
			return fmt.Sprint(stored.Spec, stored.Status.Conditions, err)
		})
	}
	return p
}

func (p *daemonPlay) client() dynamic.ResourceInterface {
	return steady.Dynamic.Resource(p.group.WithResource("daemonsets")).Namespace(p.Namespace)
}

func (p *daemonPlay) node(letter string) string { return p.Namespace + "-" + letter }

func (p *daemonPlay) letter(node string) string { return strings.TrimPrefix(node, p.Namespace+"-") }

// create creates the set. Nothing but apiVersion differs between the sides.
func (p *daemonPlay) create() {
	p.Helper()
	document, err := yaml.YAMLToJSON([]byte(`
apiVersion: ` + p.group.String() + `
kind: DaemonSet
metadata: {name: web, labels: {team: a}, annotations: {example.com/note: of the set}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: back}, annotations: {example.com/note: of the template}}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 5
      nodeSelector: {` + p.Namespace + `: "yes"}
      tolerations: [{key: guarantee, operator: Exists}]
      containers: [{name: main, image: "web:1"}]
`))
	if err == nil && p.spec != "" {
		var patch []byte
		if patch, err = p.patch(p.spec); err == nil {
			document, err = jsonpatch.MergePatch(document, patch)
		}
	}
	set := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(document, &set.Object)
	}
	if err != nil {
		p.Fatalf("the manifest: %v", err)
	}
	stored, err := p.client().Create(p.Context(), set, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		p.Fatalf("create the DaemonSet: %v", err)
	}
	p.generation = stored.GetGeneration()
}

// patch is a merge patch of the spec, which is given in YAML.
func (p *daemonPlay) patch(spec string) ([]byte, error) {
	document, err := yaml.YAMLToJSON([]byte(spec))
	return fmt.Appendf(nil, `{"spec":%s}`, document), err
}

// begin creates the set and waits until it has settled.
func (p *daemonPlay) begin() {
	p.Helper()
	p.create()
	p.settled("a web:1", "b web:1", "c web:1")
	p.begun = len(p.history.Changes())
}

// change changes the spec of the set by a merge patch, written in YAML.
func (p *daemonPlay) change(spec string) {
	p.Helper()
	patch, err := p.patch(spec)
	if err != nil {
		p.Fatalf("the change %s: %v", spec, err)
	}
	stored, err := p.client().Patch(p.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		p.Fatalf("change the DaemonSet with %s: %v", patch, err)
	}
	p.generation = stored.GetGeneration()
}

// deleteSet deletes the set and waits until it is gone.
func (p *daemonPlay) deleteSet(how metav1.DeletionPropagation) {
	p.Helper()
	if err := p.client().Delete(p.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		p.Fatalf("delete the DaemonSet: %v", err)
	}
	p.Await("no DaemonSet", func() string { return strings.Repeat("there is one", len(p.sets.All())) })
}

// on returns the pod of a node.
func (p *daemonPlay) on(letter string) *corev1.Pod {
	p.Helper()
	for _, pod := range p.Pods.All() {
		if pod.Spec.NodeName == p.node(letter) {
			return pod
		}
	}
	p.Fatalf("no pod on node %s", letter)
	return nil
}

// delete deletes the pod of a node, and waits until it is gone.
func (p *daemonPlay) delete(letter string) {
	p.Helper()
	pod := p.on(letter)
	p.DeletePod(pod.Name)
	p.AwaitGone(pod, "it was deleted")
}

func (p *daemonPlay) uids() map[string]types.UID {
	uids := map[string]types.UID{}
	for _, pod := range p.Pods.All() {
		uids[p.letter(pod.Spec.NodeName)] = pod.UID
	}
	return uids
}

// pods describes the pods of the namespace, sorted: by node, image, and whatever is unusual.
func (p *daemonPlay) pods() []string {
	var pods []string
	for _, pod := range p.Pods.All() {
		_, what, _ := strings.Cut(describe(pod), " ")
		pods = append(pods, p.letter(pod.Spec.NodeName)+" "+what)
	}
	slices.Sort(pods)
	return pods
}

// broken counts pods that are not ready.
func (p *daemonPlay) broken(pods []string) (n int) {
	for _, pod := range pods {
		if strings.HasSuffix(pod, "unready") {
			n++
		}
	}
	return n
}

func (p *daemonPlay) await(expected string, done func(pods []string) bool) {
	p.Helper()
	p.Await(expected, func() string {
		if pods := p.pods(); !done(pods) {
			return fmt.Sprintf("%q", pods)
		}
		return ""
	})
}

// settled waits until the pods of the namespace are these and no others, and the status counts them. It keeps all that there
// is for the comparison of the sides.
func (p *daemonPlay) settled(wanted ...string) {
	p.Helper()
	p.settledApartFrom("", wanted...)
}

// settledApartFrom is settled if a node has a pod and should have none.
func (p *daemonPlay) settledApartFrom(letter string, wanted ...string) {
	p.Helper()
	desired := 0
	for _, pod := range wanted {
		if !strings.HasSuffix(pod, "orphan") && (letter == "" || !strings.HasPrefix(pod, letter+" ")) {
			desired++
		}
	}
	var status appsv1.DaemonSetStatus
	p.Await(fmt.Sprintf("the pods %q", wanted), func() string {
		status = appsv1.DaemonSetStatus{}
		if set, found := p.sets.Named("web"); found {
			fields, _, _ := unstructured.NestedMap(set.Object, "status")
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &status); err != nil {
				p.Errorf("the status %v: %v", fields, err)
			}
		}
		n := int32(desired)
		if pods := p.pods(); slices.Equal(pods, wanted) && status.ObservedGeneration == p.generation && status.DesiredNumberScheduled == n &&
			status.CurrentNumberScheduled == n && status.NumberAvailable == n && status.NumberReady == n && status.NumberUnavailable == 0 &&
			(status.NumberMisscheduled == 0) == (letter == "") && status.UpdatedNumberScheduled == p.updated(letter) {
			return ""
		} else {
			return fmt.Sprintf("%q, status %+v, generation %d", pods, status, p.generation)
		}
	})
	status.ObservedGeneration = 0 // Kubernetes writes more defaults, but no more generations; a set that is created anew begins again
	p.moments = append(p.moments, p.moment(strings.Join(wanted, ", "), status))
}

// updated counts the pods of the newest revision, but for that of a node.
func (p *daemonPlay) updated(but string) (n int32) {
	newest := slices.MaxFunc(append(p.Revisions.All(), &appsv1.ControllerRevision{}), func(a, b *appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	for _, pod := range p.Pods.All() {
		if metav1.GetControllerOf(pod) != nil && p.letter(pod.Spec.NodeName) != but && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == newest.Labels[appsv1.ControllerRevisionHashLabelKey] {
			n++
		}
	}
	return n
}

func (p *daemonPlay) moment(at string, status appsv1.DaemonSetStatus) daemonMoment {
	status.Conditions = slices.DeleteFunc(slices.Clone(status.Conditions), func(c appsv1.DaemonSetCondition) bool {
		return string(c.Type) == string(v1alpha1.DaemonSetConditionReconciling) // (DS-20) Kubernetes has no such condition: kstatus knows its counters
	})
	m := daemonMoment{At: at, Status: status}
	numbers := map[string]string{}
	for _, r := range p.Revisions.All() {
		var data struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
			p.Errorf("revision %s: %v", r.Name, err)
		}
		hash := r.Labels[appsv1.ControllerRevisionHashLabelKey]
		numbers[hash] = fmt.Sprint("revision ", r.Revision)
		m.Revisions = append(m.Revisions, fmt.Sprintf("%d %s, named by its hash: %t", r.Revision, data.Spec.Template.Spec.Containers[0].Image, r.Name == "web-"+hash))
	}
	for _, found := range p.Pods.All() {
		labels := maps.Clone(found.Labels)
		labels[appsv1.ControllerRevisionHashLabelKey] = numbers[labels[appsv1.ControllerRevisionHashLabelKey]]
		delete(labels, "pod-template-generation")
		m.Pods = append(m.Pods, pod{Name: p.letter(found.Spec.NodeName), Labels: labels, Annotations: found.Annotations, Finalizers: found.Finalizers,
			Owners: p.owners(found), Spec: p.specOf(found)})
	}
	slices.Sort(m.Revisions)
	slices.SortFunc(m.Pods, func(a, b pod) int { return strings.Compare(a.Name+fmt.Sprint(a.Owners), b.Name+fmt.Sprint(b.Owners)) })
	return m
}

// specOf is the spec of a pod, with what its nodes and its namespace are called on both sides.
func (p *daemonPlay) specOf(found *corev1.Pod) (spec corev1.PodSpec) {
	data, err := json.Marshal(found.Spec)
	if err == nil {
		err = json.Unmarshal([]byte(strings.ReplaceAll(string(data), p.Namespace, "NAMESPACE")), &spec)
	}
	if err != nil {
		p.Errorf("the spec of pod %s: %v", found.Name, err)
	}
	spec.ReadinessGates = slices.DeleteFunc(spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return gate.ConditionType == lifecyclev1alpha1.KruisePodReady
	})
	return spec
}

func (p *daemonPlay) owners(object metav1.Object) (owners []string) {
	for _, ref := range object.GetOwnerReferences() {
		owners = append(owners, fmt.Sprintf("%s %s, controller %t, blocks its deletion %t", ref.Kind, ref.Name, *ref.Controller, *ref.BlockOwnerDeletion))
	}
	return owners
}

// unavailableAtMost fails if more nodes than that had no ready pod at any moment since the set began.
func (p *daemonPlay) unavailableAtMost(most int) {
	p.Helper()
	p.replay(func(ready, _ int) {
		if 3-ready > most {
			p.Errorf("%d nodes had no ready pod, want %d at most", 3-ready, most)
		}
	})
}

// podsAtMost fails if there were more pods than that at any moment since the set began.
func (p *daemonPlay) podsAtMost(most int) {
	p.Helper()
	p.replay(func(_, pods int) {
		if pods > most {
			p.Errorf("%d pods, want %d at most", pods, most)
		}
	})
}

func (p *daemonPlay) replay(see func(ready, pods int)) {
	podhistory.Replay(p.history.Changes(), p.begun, func(all map[types.UID]*corev1.Pod, _ podhistory.Change) {
		serves := map[string]bool{}
		for _, pod := range all {
			if ready(pod) && pod.DeletionTimestamp == nil {
				serves[pod.Spec.NodeName] = true
			}
		}
		see(len(serves), len(all))
	})
}
