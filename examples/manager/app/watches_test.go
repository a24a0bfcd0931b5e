// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// served returns what the manager reads beside what the fake cluster has: all that we define, and built-in kinds.
func served(t *testing.T) []fakecluster.Resource {
	all := []fakecluster.Resource{
		{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Name: "jobs", Status: true, Generation: true, Type: func() any { return &batchv1.Job{} }},
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", func() any { return &appsv1.ReplicaSet{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
		fakecluster.BuiltIn(corev1.SchemeGroupVersion.WithKind("ReplicationController"), "replicationcontrollers", func() any { return &corev1.ReplicationController{} }),
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets"},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps"},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: "namespaces", ClusterScoped: true, Type: func() any { return &corev1.Namespace{} }},
	}
	m := &Manager{config: mustParse(t), gates: openGates(t)}
	definitions, err := m.definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions {
		var d apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &d); err != nil {
			t.Fatal(err)
		}
		for _, version := range d.Spec.Versions {
			if version.Storage {
				kind := schema.GroupVersionKind{Group: d.Spec.Group, Version: version.Name, Kind: d.Spec.Names.Kind}
				resource := fakecluster.CustomResource(kind, d.Spec.Names.Plural)
				resource.ClusterScoped = d.Spec.Scope == apiextensionsv1.ClusterScoped
				all = append(all, resource)
			}
		}
	}
	return all
}

// openGates has more read than the defaults.
func openGates(t *testing.T) *features.Gates {
	gates, err := features.Flags{Gates: "PreDownloadImageForInPlaceUpdate=true,SidecarTerminator=true"}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

// watches stands before an API server. It notes which part of the manager watches what, and answers which resources are served.
type watches struct {
	next      http.RoundTripper
	installed []string // what of the custom resources is served

	lock sync.Mutex
	all  map[string]int // as "RESOURCE by PART"
}

func (w *watches) RoundTrip(request *http.Request) (*http.Response, error) {
	_, part, _ := strings.Cut(request.UserAgent(), "/")
	switch p := request.URL.Path; {
	case p == "/api/v1" || len(strings.Split(p, "/")) == 4 && strings.HasPrefix(p, "/apis/"):
		return w.served(request)
	case request.URL.Query().Get("watch") != "":
		w.lock.Lock()
		w.all[path.Base(p)+" by "+part]++
		w.lock.Unlock()
	}
	return w.next.RoundTrip(request)
}

// served answers which resources of a group there are.
func (w *watches) served(request *http.Request) (*http.Response, error) {
	list := metav1.APIResourceList{GroupVersion: strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/")}
	for _, name := range append([]string{"pods", "nodes"}, w.installed...) {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: request, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))),
	}, nil
}

// However many controllers read a kind, the API server sends every object once. A controller starts if its kind is
// served, and does without what is not: images are pulled also if no workloads are installed.
func TestEveryKindIsWatchedOnce(t *testing.T) {
	core := []string{"imagepulljobs by caches: 1", "nodeimages by caches: 1", "nodes by caches: 1", "pods by caches: 1",
		"secrets by imagepulljob-controller: 1"}
	all := names((&Manager{config: mustParse(t), gates: openGates(t)}).controllers(nil))
	everything := append([]string{"controllerrevisions by caches: 1", "jobs by caches: 1", "deployments by caches: 1", "replicasets by caches: 1",
		"replicationcontrollers by caches: 1", "namespaces by caches: 1", "persistentvolumeclaims by caches: 1", "statefulsets by caches: 2"}, core...)
	for _, name := range all {
		if name != "statefulsets" && !slices.Contains(core, name+" by caches: 1") {
			everything = append(everything, name+" by caches: 1")
		}
	}
	for name, c := range map[string]struct {
		installed []string
		want      []string
	}{
		"PF-4: everything":   {all, everything},
		"PF-4: no workloads": {[]string{"imagepulljobs", "nodeimages"}, core},
		"PF-4: StatefulSets only": {[]string{"imagepulljobs", "nodeimages", "statefulsets"},
			append([]string{"controllerrevisions by caches: 1", "persistentvolumeclaims by caches: 1", "statefulsets by caches: 1"}, core...)},
		"PF-4: DaemonSets only":                        {[]string{"daemonsets"}, []string{"controllerrevisions by caches: 1", "daemonsets by caches: 1", "nodes by caches: 1", "pods by caches: 1"}},
		"PF-4: AdvancedCronJobs, and no BroadcastJobs": {[]string{"advancedcronjobs"}, []string{"advancedcronjobs by caches: 1", "jobs by caches: 1", "pods by caches: 1"}},
		"PF-4: UnitedDeployments, and no CloneSets and Advanced StatefulSets": {[]string{"uniteddeployments"}, []string{"controllerrevisions by caches: 1",
			"deployments by caches: 1", "pods by caches: 1", "statefulsets by caches: 1", "uniteddeployments by caches: 1"}},
		"PF-4: no jobs": {[]string{"clonesets"}, []string{"clonesets by caches: 1", "controllerrevisions by caches: 1",
			"nodes by caches: 1", "persistentvolumeclaims by caches: 1", "pods by caches: 1"}},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { watchesOf(t, c.installed, c.want) }) })
	}
}

// names returns the resources of the controllers, each once, without what is built in.
func names(all []controllers.Controller) (names []string) {
	for _, c := range all {
		if c.Resource.Group != "" {
			names = append(names, c.Resource.Resource)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// The webhook of budgets reads the pods of the controllers once these run, and has no cache of pods beside them. (PUB-33)
func TestALeaderCachesPodsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil, served(t)...)
		config := server.Config("")
		seen := &watches{next: config.Transport, installed: []string{"podunavailablebudgets"}, all: map[string]int{}}
		config.Transport = seen
		m := &Manager{config: mustParse(t), gates: openGates(t)}
		var err error
		if m.admissions, err = m.newAdmissions(config); err != nil {
			t.Fatal(err)
		}
		one := intstr.FromInt32(1)
		budget := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
			Spec: v1alpha1.PodUnavailableBudgetSpec{Selector: &metav1.LabelSelector{}, MaxUnavailable: &one}}
		if _, err := m.admissions.clients.Availability.PodUnavailableBudgets("default").Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running errgroup.Group
		running.Go(func() error { return m.admissions.budgets.Run(ctx) })
		running.Go(func() error { return m.runControllers(ctx, config) })
		time.Sleep(time.Minute) // of virtual time
		synctest.Wait()
		seen.lock.Lock()
		maps.DeleteFunc(seen.all, func(what string, _ int) bool { return !strings.HasPrefix(what, "pods ") })
		if diff := cmp.Diff(map[string]int{"pods by caches": 1}, seen.all); diff != "" {
			t.Errorf("PUB-33: watches of pods (-want +got):\n%s", diff)
		}
		seen.lock.Unlock()
		cancel()
		if err := running.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func watchesOf(t *testing.T, installed, want []string) {
	server := fakecluster.New(nil, served(t)...)
	config := server.Config("")
	seen := &watches{next: config.Transport, installed: installed, all: map[string]int{}}
	config.Transport = seen
	m := &Manager{config: mustParse(t), gates: openGates(t)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.runControllers(ctx, config) }()
	time.Sleep(time.Minute) // of virtual time: until all have started
	synctest.Wait()
	var got []string
	seen.lock.Lock()
	for _, what := range slices.Sorted(maps.Keys(seen.all)) {
		got = append(got, fmt.Sprint(what, ": ", seen.all[what]))
	}
	seen.lock.Unlock()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
