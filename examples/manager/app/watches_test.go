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
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// served are those that the manager reads beside the built-in ones.
var served = []fakecluster.Resource{
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
	fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob"), "advancedcronjobs"),
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets"),
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("UnitedDeployment"), "uniteddeployments"),
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("BroadcastJob"), "broadcastjobs"),
	{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Name: "jobs", Status: true, Generation: true, Type: func() any { return &batchv1.Job{} }},
	fakecluster.CustomResource(distributionv1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
	fakecluster.CustomResource(distributionv1alpha1.SchemeGroupVersion.WithKind("WorkloadSpread"), "workloadspreads"),
	fakecluster.CustomResource(distributionv1alpha1.SchemeGroupVersion.WithKind("PersistentPodState"), "persistentpodstates"),
	fakecluster.CustomResource(lifecyclev1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), "podprobemarkers"),
	{GroupVersionKind: lifecyclev1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: "nodepodprobes", ClusterScoped: true, Status: true, Generation: true},
	{GroupVersionKind: distributionv1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true},
	fakecluster.CustomResource(lifecyclev1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests"),
	fakecluster.CustomResource(lifecyclev1alpha1.SchemeGroupVersion.WithKind("EphemeralJob"), "ephemeraljobs"),
	{GroupVersionKind: sidecarv1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), Name: "sidecarsets", ClusterScoped: true, Status: true, Generation: true},
	fakecluster.CustomResource(availabilityv1alpha1.SchemeGroupVersion.WithKind("PodUnavailableBudget"), "podunavailablebudgets"),
	fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
	fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", func() any { return &appsv1.ReplicaSet{} }),
	fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
	fakecluster.BuiltIn(corev1.SchemeGroupVersion.WithKind("ReplicationController"), "replicationcontrollers", func() any { return &corev1.ReplicationController{} }),
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets"},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps"},
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: "namespaces", ClusterScoped: true, Type: func() any { return &corev1.Namespace{} }},
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
	requests := "containerrecreaterequests by caches: 1"
	for name, c := range map[string]struct {
		installed []string
		want      []string
	}{
		"PF-4: everything": {names(mustParse(t).kinds), append([]string{"clonesets by caches: 1", requests, "controllerrevisions by caches: 1",
			"advancedcronjobs by caches: 1", "broadcastjobs by caches: 1", "daemonsets by caches: 1", "jobs by caches: 1",
			"deployments by caches: 1", "podunavailablebudgets by caches: 1", "replicasets by caches: 1", "replicationcontrollers by caches: 1",
			"namespaces by caches: 1", "persistentvolumeclaims by caches: 1", "sidecarsets by caches: 1", "statefulsets by caches: 2", "uniteddeployments by caches: 1",
			"workloadspreads by caches: 1", "persistentpodstates by caches: 1", "ephemeraljobs by caches: 1", "podprobemarkers by caches: 1", "nodepodprobes by caches: 1"}, core...)},
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

// names returns the resources of the controllers, without what is built in.
func names(all []kind) (names []string) {
	for _, k := range all {
		if k.name != "" && k.resource.Group != "" {
			names = append(names, k.resource.Resource)
		}
	}
	return names
}

func watchesOf(t *testing.T, installed, want []string) {
	server := fakecluster.New(nil, served...)
	config := server.Config("")
	seen := &watches{next: config.Transport, installed: installed, all: map[string]int{}}
	config.Transport = seen
	gates, err := features.Parse("PreDownloadImageForInPlaceUpdate=true,SidecarTerminator=true", "") // which has more read
	if err != nil {
		t.Fatal(err)
	}
	m := &Manager{config: mustParse(t), gates: gates}
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
