// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// site is what an agent needs around it: an API server and a runtime.
type site struct {
	*testing.T
	api     *fakecluster.Server
	crds    *installed
	kube    kubernetes.Interface
	runtime *fakecri.Runtime
	kubelet *fakecri.Kubelet
	config  Config
}

// nodePodProbes are the kind that the probes are in.
var nodePodProbes = fakecluster.Resource{
	GroupVersionKind: lifecyclev1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: "nodepodprobes", ClusterScoped: true, Status: true, Generation: true,
}

// nodeImages are the kind that the tasks to pull images are in.
var nodeImages = fakecluster.Resource{
	GroupVersionKind: distributionv1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true,
}

// recreateRequests are the kind that asks for containers to be recreated.
var recreateRequests = fakecluster.Resource{
	GroupVersionKind: lifecyclev1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), Name: "containerrecreaterequests", Status: true, Generation: true,
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, api: fakecluster.New(nil, nodeImages, recreateRequests, nodePodProbes), runtime: fakecri.New(nil)}
	var err error
	if s.kube, err = kubernetes.NewForConfig(s.api.Config("test")); err != nil {
		t.Fatal(err)
	}
	s.kubelet = &fakecri.Kubelet{Client: s.kube, Runtime: s.runtime}
	s.config = NewConfig(onNode)
	s.config.REST, s.config.HealthAddr = s.api.Config("agent"), "127.0.0.1:0"
	s.config.Endpoint = filepath.Join(t.TempDir(), "cri.sock")
	s.crds = &installed{T: t, next: s.config.REST.Transport, served: map[string]bool{"nodeimages": true, "containerrecreaterequests": true, "nodepodprobes": true}}
	s.config.REST.Transport = s.crds
	return s
}

// installed stands before the API server of an agent: it answers what resources
// of the group apps.kruise.io are served, and knows no others.
type installed struct {
	*testing.T
	next http.RoundTripper

	lock   sync.Mutex
	served map[string]bool
	down   bool // it does not answer what is served
}

// set changes what is served.
func (i *installed) set(resource string, served bool) {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.served[resource] = served
}

// answers has it answer what is served, or not.
func (i *installed) answers(answers bool) {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.down = !answers
}

func (i *installed) RoundTrip(request *http.Request) (*http.Response, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	const group = "/apis/apps.kruise.io/v1alpha1"
	resource, _, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, group+"/"), "/")
	switch path := request.URL.Path; {
	case i.down && (path == group || path == "/api/v1"):
		return i.answer(request, http.StatusServiceUnavailable, metav1.Status{Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Message: "down"}), nil
	case path == "/api/v1":
		return i.answer(request, http.StatusOK, metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods"}}}), nil
	case path == group:
		list := metav1.APIResourceList{GroupVersion: "apps.kruise.io/v1alpha1"}
		for resource, served := range i.served {
			if served {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: resource})
			}
		}
		return i.answer(request, http.StatusOK, list), nil
	case strings.HasPrefix(path, group+"/") && !i.served[resource]:
		i.Errorf("%s %s, of what is not served", request.Method, path)
	}
	return i.next.RoundTrip(request)
}

func (i *installed) answer(request *http.Request, code int, object any) *http.Response {
	body, err := json.Marshal(object)
	if err != nil {
		i.Error(err)
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: request,
	}
}

// run runs an agent until the function that it returns is called, which fails
// the test if the agent does. The address is that of its probes.
func (s *site) run() (address string, stop func()) {
	s.Helper()
	return s.runAs(Run)
}

func (s *site) runAs(run func(context.Context, Config) error) (address string, stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	health, ended := make(chan string, 1), make(chan error, 1)
	s.config.Started = func(address string) { health <- address }
	go func() { ended <- run(ctx, s.config) }()
	return <-health, func() {
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("the agent ends with %v", err)
		}
	}
}

// until waits for something that comes about in real time.
func (s *site) until(what string, done func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 10*time.Millisecond, 10*time.Minute, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

func cloneSetPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "default", Labels: map[string]string{"version": "1"}, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: ptr.To(true)},
		}},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "nginx:1.0", Env: []corev1.EnvVar{{
			Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['version']"}},
		}}}}},
	}
}
