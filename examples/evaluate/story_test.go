// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	availabilitybudget "github.com/podwright/podwright/availability/budget"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// decode reads an object of a kind, and wants to know every field.
func decode(t *testing.T, k *kind, data []byte) metav1.Object {
	t.Helper()
	object := map[string]metav1.Object{"CloneSet": &v1alpha1.CloneSet{}, "DaemonSet": &v1alpha1.DaemonSet{}, "SidecarSet": &sidecarv1alpha1.SidecarSet{}, "StatefulSet": &v1beta1.StatefulSet{}}[k.name]
	if err := yaml.UnmarshalStrict(data, object); err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	return object
}

// spec is what kinds have in common, by other names.
type spec struct {
	replicas                  int32
	image, policy             string
	maxUnavailable, partition *intstr.IntOrString
}

func specOf(object metav1.Object) spec {
	switch object := object.(type) {
	case *v1alpha1.CloneSet:
		how := &object.Spec.UpdateStrategy
		return spec{*object.Spec.Replicas, object.Spec.Template.Spec.Containers[0].Image, string(how.Type), how.MaxUnavailable, how.Partition}
	case *v1alpha1.DaemonSet:
		how := object.Spec.UpdateStrategy.RollingUpdate
		return spec{replicas, object.Spec.Template.Spec.Containers[0].Image, string(how.Type), how.MaxUnavailable, how.Partition}
	case *sidecarv1alpha1.SidecarSet:
		how := &object.Spec.UpdateStrategy // which knows one policy
		return spec{replicas, object.Spec.Containers[0].Image, "InPlaceIfPossible", how.MaxUnavailable, how.Partition}
	case *v1beta1.StatefulSet:
		how := object.Spec.UpdateStrategy.RollingUpdate
		s := spec{*object.Spec.Replicas, object.Spec.Template.Spec.Containers[0].Image, string(how.PodUpdatePolicy), how.MaxUnavailable, nil}
		if how.Partition != nil {
			s.partition = new(intstr.FromInt32(*how.Partition))
		}
		return s
	}
	return spec{}
}

// A story knows the words that it uses.
func TestWordsOfStories(t *testing.T) {
	for name, k := range kinds {
		for _, act := range k.Acts {
			for _, p := range act.Promises {
				if rules[p.Rule] == nil || strings.Count(p.Text, "%d") != 2 {
					t.Errorf("%s: the rule %q, %q", name, p.Rule, p.Text)
				}
			}
			if act.Asks != "" && clients[act.Asks] == nil {
				t.Errorf("%s: there are no clients %q", name, act.Asks)
			}
			for _, s := range act.Steps {
				if conditions[s.Until] == nil || s.Do != "" && actions[s.Do] == nil {
					t.Errorf("%s: %q does %q until %q", name, s.Title, s.Do, s.Until)
				}
				if s.Title == "" || len(s.Title) > 70 { // beside the time, on a terminal of 80 columns
					t.Errorf("%s: %q has %d characters, want 1 to 70", name, s.Title, len(s.Title))
				}
			}
		}
	}
}

// The checks expect what the manifests say. The changes of the whole script set no field that the kind does not have. In
// the end the image and the partition are what they should be.
func TestManifestsAndScripts(t *testing.T) {
	for name, k := range kinds {
		moves := name == "budget" || name == "spread" // and updates nothing
		all := documents(name)
		first := specOf(decode(t, k, all[len(all)-1]))
		if (first.replicas != replicas || first.image != oldImage) && !moves || first.policy != "InPlaceIfPossible" || *first.maxUnavailable != intstr.FromInt32(maxUnavailable) {
			t.Errorf("%s: the manifest and the constants differ: %+v", name, first)
		}
		client := fake.NewSimpleDynamicClient(runtime.NewScheme())
		d := &demo{kind: k, untyped: client, namespace: "demo"}
		if err := d.do(t.Context(), step{Set: map[string]any{}}); err == nil || !strings.HasPrefix(err.Error(), "writing the "+k.name+" web: ") {
			t.Errorf("a change of nothing: got error %v", err)
		}
		for _, act := range k.Acts {
			for _, s := range act.Steps {
				if s.Do == "" {
					if err := d.do(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		stored, err := client.Resource(k.resource).Namespace(d.namespaceOf(k.resource)).Get(t.Context(), setName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := stored.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		last := specOf(decode(t, k, data))
		switch want := k.Acts[len(k.Acts)-1].Pods; {
		case last.replicas != int32(want):
			t.Errorf("%s ends with %d replicas, want %d", name, last.replicas, want)
		case !moves && (last.image != newImage || last.partition == nil || last.partition.IntVal != 0):
			t.Errorf("%s ends with the image %s and the partition %v", name, last.image, last.partition)
		}
	}
}

// The only pod of one, and nine of ten, are what the budget of the demo keeps available.
func TestBudgetOfTheDemo(t *testing.T) {
	b := &availabilityv1alpha1.PodUnavailableBudget{}
	if err := yaml.UnmarshalStrict(documents("budget")[0], b); err != nil {
		t.Fatal(err)
	}
	for _, act := range kinds["budget"].Acts {
		if !act.Moves {
			continue
		}
		if desired, err := availabilitybudget.Desired(b, int32(act.Pods)); err != nil || int(desired) != act.Pods-act.Missing {
			t.Errorf("of %d pods %d have to be available (%v), and %d may be missing", act.Pods, desired, err, act.Missing)
		}
	}
}

// As many pods as its subset takes are expected on the nodes of one's own.
func TestSpreadOfTheDemo(t *testing.T) {
	s := &distributionv1alpha1.WorkloadSpread{}
	if err := yaml.UnmarshalStrict(documents("spread")[0], s); err != nil {
		t.Fatal(err)
	}
	for i, nodes := range [][]string{own, rented} {
		if got := s.Spec.Subsets[i].RequiredNodeSelectorTerm.MatchExpressions[0].Values; !slices.Equal(got, nodes) {
			t.Errorf("subset %d has the nodes %v, want %v", i, got, nodes)
		}
	}
	onOwn := promises("spread", "The spread")[0].Pods
	if most := s.Spec.Subsets[0].MaxReplicas; most == nil || *most != intstr.FromInt(onOwn) {
		t.Errorf("maxReplicas is %v, want %d", most, onOwn)
	}
}

// A state holds the figures of the status, and what the plan says.
func TestState(t *testing.T) {
	for name, k := range kinds {
		numbers := "replicas: 10, availableReplicas: 9, updatedReplicas: 5"
		if k.name == "DaemonSet" {
			numbers = "currentNumberScheduled: 10, numberAvailable: 9, updatedNumberScheduled: 5"
		} else if k.name == "SidecarSet" {
			numbers = "matchedPods: 10, readyPods: 9, updatedPods: 5"
		}
		all := documents(name)
		object := decode(t, k, slices.Concat(all[len(all)-1], []byte("\nstatus: {observedGeneration: 3, "+numbers+"}")))
		object.SetGeneration(3)
		object.SetUID("set")
		object.SetNamespace("demo")
		s := &state{workload: k.workload, set: object, nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}}
		s.plan(time.Now())
		if len(s.Create) == 0 && specOf(object).replicas > 0 && k.name != "SidecarSet" || s.Revisions.Update == nil {
			t.Errorf("%s without pods: got %+v, problems %v", k.name, s, s.Problems)
		}
		s.Stages = rollout.Stages{}
		for name, c := range map[string]struct {
			generation int64
			want       counts
			edit       func(*state)
			settled    bool
		}{
			"all is well":                       {3, counts{10, 9, 5}, func(*state) {}, true},
			"the cache has not seen the change": {4, counts{10, 9, 5}, func(*state) {}, false},
			"the cache has seen nothing":        {0, counts{}, func(s *state) { *s = state{} }, false},
			"the controller has not seen the change": {3, counts{10, 9, 5}, func(s *state) {
				behind := decode(t, k, []byte("metadata: {generation: 3}\nstatus: {observedGeneration: 2, "+numbers+"}"))
				s.set = behind
			}, false},
			"another count": {3, counts{10, 10, 5}, func(*state) {}, false},
			"a pod is on its way": {3, counts{10, 9, 5}, func(s *state) {
				s.pods = []*corev1.Pod{{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}}
			}, false},
			"the plan goes on": {3, counts{10, 9, 5}, func(s *state) { s.Patch = make([]rollout.PodPatch, 1) }, false},
		} {
			now := *s
			c.edit(&now)
			if got := now.settled(c.generation, c.want); got != c.settled {
				t.Errorf("%s: %s: settled %t, want %t", k.name, name, got, c.settled)
			}
		}
	}
}

func TestSuggestions(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without kubectl
	text := (&demo{options: options{Kubeconfig: "/it's/a:/b"}, kind: kinds["statefulset"], namespace: "demo-1", dir: "/tmp/c"}).suggestions()
	for _, want := range []string{
		"export KUBECONFIG='/it'\\''s/a:/b'\n", " /tmp/c/*.log\n",
		`go tool kubectl -n demo-1 patch statefulsets.apps.kruise.io web --type=json -p '[{"op":"add","path":"/spec/template/spec/containers/0/image","value":"docker.io/library/busybox:bad"}]'`,
		`go tool kubectl -n demo-1 scale statefulsets.apps.kruise.io web --replicas=12`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}
