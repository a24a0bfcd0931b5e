// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
		s := spec{replicas, object.Spec.Template.Spec.Containers[0].Image, string(how.Type), how.MaxUnavailable, nil}
		if how.Partition != nil {
			s.partition = new(intstr.FromInt32(*how.Partition))
		}
		return s
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

// What the checks expect is what the manifests say, and the whole script fits the fields of its kind: no change makes one
// that is not known, and the image and the partition are in the end what they should be.
func TestManifestsAndScripts(t *testing.T) {
	for name, k := range kinds {
		moves := name == "budget" || name == "spread" // and updates nothing
		documents := bytes.Split(k.manifest, []byte("\n---\n"))
		first := specOf(decode(t, k, documents[len(documents)-1]))
		if (first.replicas != replicas || first.image != oldImage) && !moves || first.policy != "InPlaceIfPossible" || *first.maxUnavailable != intstr.FromInt32(maxUnavailable) {
			t.Errorf("%s: the manifest and the constants differ: %+v", name, first)
		}
		client := fake.NewSimpleDynamicClient(runtime.NewScheme())
		d := &demo{kind: k, untyped: client, namespace: "demo"}
		if err := change(setImage(inTemplate, newImage))(t.Context(), d); err == nil || !strings.HasPrefix(err.Error(), "writing the "+k.name+" web: ") {
			t.Errorf("a change of nothing: got error %v", err)
		}
		for _, act := range k.acts {
			for _, s := range act.steps {
				if !act.moves {
					if err := s.do(t.Context(), d); err != nil {
						t.Fatal(err)
					}
				}
				if s.title == "" || len(s.title) > 70 { // beside the time, on a terminal of 80 columns
					t.Errorf("%s: %q has %d characters, want 1 to 70", name, s.title, len(s.title))
				}
			}
		}
		stored, err := d.objects(k.resource).Get(t.Context(), setName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := stored.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		switch last := specOf(decode(t, k, data)); {
		case moves && last.replicas != replicas:
			t.Errorf("%s ends with %d replicas", name, last.replicas)
		case !moves && (last.image != newImage || last.partition == nil || last.partition.IntVal != 0):
			t.Errorf("%s ends with the image %s and the partition %v", name, last.image, last.partition)
		}
	}
}

// The only pod of one, and nine of ten, are what the budget of the demo keeps available.
func TestBudgetOfTheDemo(t *testing.T) {
	document, _, _ := bytes.Cut(manifest("budget"), []byte("\n---\n"))
	b := &availabilityv1alpha1.PodUnavailableBudget{}
	if err := yaml.UnmarshalStrict(document, b); err != nil {
		t.Fatal(err)
	}
	for _, act := range kinds["budget"].acts {
		if !act.moves {
			continue
		}
		if desired, err := availabilitybudget.Desired(b, int32(act.pods)); err != nil || int(desired) != act.pods-act.missing {
			t.Errorf("of %d pods %d have to be available (%v), and %d may be missing", act.pods, desired, err, act.missing)
		}
	}
}

// As many pods as its subset takes are expected on the nodes of one's own.
func TestSpreadOfTheDemo(t *testing.T) {
	document, _, _ := bytes.Cut(manifest("spread"), []byte("\n---\n"))
	s := &distributionv1alpha1.WorkloadSpread{}
	if err := yaml.UnmarshalStrict(document, s); err != nil {
		t.Fatal(err)
	}
	for i, nodes := range [][]string{own, rented} {
		if got := s.Spec.Subsets[i].RequiredNodeSelectorTerm.MatchExpressions[0].Values; !slices.Equal(got, nodes) {
			t.Errorf("subset %d has the nodes %v, want %v", i, got, nodes)
		}
	}
	if most := s.Spec.Subsets[0].MaxReplicas; most == nil || *most != intstr.FromInt32(onOwn) {
		t.Errorf("maxReplicas is %v, want %d", most, onOwn)
	}
}

// A state holds the figures of the status, and what the plan says.
func TestState(t *testing.T) {
	for _, k := range kinds {
		numbers := "replicas: 10, availableReplicas: 9, updatedReplicas: 5, updatedReadyReplicas: 4"
		if k.name == "DaemonSet" {
			numbers = "currentNumberScheduled: 10, numberAvailable: 9, numberUnavailable: 1, updatedNumberScheduled: 5"
		} else if k.sidecars {
			numbers = "matchedPods: 10, readyPods: 9, updatedPods: 5, updatedReadyPods: 4"
		}
		documents := bytes.Split(k.manifest, []byte("\n---\n"))
		object := decode(t, k, slices.Concat(documents[len(documents)-1], []byte("\nstatus: {observedGeneration: 3, "+numbers+"}")))
		object.SetGeneration(3)
		object.SetUID("set")
		object.SetNamespace("demo")
		s := k.observe(&observed{set: object, nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, now: time.Now()})
		if want := (status{3, 10, 9, 5, 4}); s.status != want {
			t.Errorf("%s: got %+v, want %+v", k.name, s.status, want)
		}
		if len(s.Create) == 0 && specOf(object).replicas > 0 && !k.sidecars || s.Revisions.Update == nil {
			t.Errorf("%s without pods: got %+v, problems %v", k.name, s, s.Problems)
		}
		s.Stages = rollout.Stages{}
		for name, c := range map[string]struct {
			generation int64
			want       status
			edit       func(*state)
			settled    bool
		}{
			"all is well":                            {3, status{0, 10, 9, 5, 4}, func(*state) {}, true},
			"the cache has not seen the change":      {4, status{0, 10, 9, 5, 4}, func(*state) {}, false},
			"the controller has not seen the change": {3, status{0, 10, 9, 5, 4}, func(s *state) { s.status.ObservedGeneration = 2 }, false},
			"another count":                          {3, status{0, 10, 10, 5, 4}, func(*state) {}, false},
			"a pod is on its way": {3, status{0, 10, 9, 5, 4}, func(s *state) {
				s.pods = []*corev1.Pod{{Spec: corev1.PodSpec{Containers: []corev1.Container{{}}}}}
			}, false},
			"the plan goes on": {3, status{0, 10, 9, 5, 4}, func(s *state) { s.Patch = make([]rollout.PodPatch, 1) }, false},
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
