package main

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/client"
)

// kinds are the kinds of workloads that there is a demo of; the first is the
// default. A new kind is one more entry here, and a file with its functions.
var kinds = []*kind{&cloneSets, &statefulSets}

// kind is a kind of workload, and the demo of it.
type kind struct {
	// name stands in manifests, such as "CloneSet".
	name string
	// kubectl is how kubectl calls it.
	kubectl  string
	resource schema.GroupVersionResource
	// manifest is the object to create, in YAML.
	manifest []byte
	// creation says how its pods come to be, in the title of the first step.
	creation string
	// acts are what happens to the workload then.
	acts []act
	// more are changes to try at the end that only this kind knows.
	more []hint

	// informer makes an informer on the objects of a namespace.
	informer func(workloads client.Interface, namespace string) cache.SharedIndexInformer
	// plan says what such an object has come to and what the plan for it says; nil
	// for anything else.
	plan func(object any, its belongings) *state
}

// flag is how the command line calls the kind.
func (k *kind) flag() string { return strings.ToLower(k.name) }

// kindOf returns the kind that a flag names, in any case; nil where there is none.
func kindOf(flag string) *kind {
	for _, k := range kinds {
		if k.flag() == strings.ToLower(flag) {
			return k
		}
	}
	return nil
}

func flagsOfKinds() string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.flag())
	}
	return strings.Join(out, ", ")
}

// belongings are what a workload controls, as caches hold it.
type belongings struct {
	pods      []*corev1.Pod
	revisions []*appsv1.ControllerRevision
	now       time.Time
}

// state is a workload at one moment, and what the plan that follows from it says.
type state struct {
	object metav1.Object
	pods   []*corev1.Pod

	replicas *int32 // of the spec
	// status counts the pods, as of the generation observed.
	status   counts
	observed int64

	// update is the revision that pods go to; nil where there is none.
	update   *appsv1.ControllerRevision
	waiting  []rollout.Wait
	problems []error
	todo     todo
}

// counts are numbers of pods.
type counts struct{ all, available, updated, updatedReady int32 }

// todo is how many pods a manager should create, delete and change now.
type todo struct{ create, delete, change int }

// observe returns the state of an object of this kind.
func (k *kind) observe(object metav1.Object, its belongings) *state {
	s := k.plan(object, its)
	if s != nil {
		s.object, s.pods = object, its.pods
	}
	return s
}

// settled tells whether a workload has come to rest at these counts. The
// generation is that of the change waited for.
func (s *state) settled(generation int64, want counts) bool {
	return s.object.GetGeneration() >= generation && s.observed == s.object.GetGeneration() &&
		s.status == want && s.todo == todo{}
}
