// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads/cloneset"
)

// served is an API server that serves some resources, from when they are installed.
type served struct {
	next http.RoundTripper
	fail error

	lock      sync.Mutex
	installed []string
	asked     int
}

func (s *served) RoundTrip(request *http.Request) (*http.Response, error) {
	if p := request.URL.Path; p != "/api/v1" && (strings.Count(p, "/") != 3 || !strings.HasPrefix(p, "/apis/")) {
		return s.next.RoundTrip(request)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.asked++; s.fail != nil {
		return nil, s.fail
	}
	list, code := metav1.APIResourceList{}, http.StatusNotFound
	for _, name := range s.installed {
		list.APIResources, code = append(list.APIResources, metav1.APIResource{Name: name}), http.StatusOK
	}
	body, err := json.Marshal(list)
	return &http.Response{StatusCode: code, Request: request, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(body)))}, err
}

func (s *served) install(names ...string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.installed, s.fail = append(s.installed, names...), nil
}

func newServed() (*served, kubernetes.Interface) {
	config := fakecluster.New(nil).Config("program")
	s := &served{next: config.Transport}
	config.Transport = s
	return s, kubernetes.NewForConfigOrDie(config)
}

// runs is a controller that notes that it runs, and fails if it is told to.
type runs struct {
	began chan string
	name  string
	fails error
}

func (r runs) Run(ctx context.Context) error {
	r.began <- r.name
	if r.fails != nil {
		return r.fails
	}
	<-ctx.Done()
	return nil
}

func (runs) HasSynced() bool { return true }

func quiet(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
}

// A controller runs once its resource is served, and not before; all end together, with the error of the one that fails.
func TestRunControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, stages := make(chan string, 9), []string{}
		kind := func(resource string, fails error) podwright.Kind {
			return podwright.Kind{Name: resource + "-controller", Resource: schema.GroupVersionResource{Group: "shop.io", Version: "v1", Resource: resource},
				New: func(context.Context) (podwright.Runner, error) { return runs{began, resource, fails}, nil }}
		}
		api, kube := newServed()
		api.install("carts")
		note := func(stage string) func(podwright.Kind) {
			return func(k podwright.Kind) { stages = append(stages, stage+" "+k.Name) }
		}
		failure := errors.New("failure")
		set, err := manager.New(manager.Options{Kubernetes: kube, LookAgain: time.Minute, Waits: note("waits"), Runs: note("runs"),
			Start: func(context.Context) { stages = append(stages, "start") }}, kind("carts", nil), kind("orders", failure))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := quiet(t)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- set.RunControllers(ctx) }()
		time.Sleep(time.Hour) // of virtual time
		if got := <-began; got != "carts" || len(began) != 0 {
			t.Errorf("%s and %d others run", got, len(began))
		}
		api.install("orders")
		if err := <-ended; !errors.Is(err, failure) || !strings.Contains(err.Error(), "orders-controller") {
			t.Errorf("error %v", err)
		}
		slices.Sort(stages)
		if diff := cmp.Diff([]string{"runs carts-controller", "runs orders-controller", "start", "start", "waits orders-controller"}, stages); diff != "" {
			t.Errorf("stages (-want +got):\n%s", diff)
		}
	})
}

// The caches of a webhook run in every replica, once what they read is served, without any controller.
func TestRunWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, missing := make(chan string, 9), 0
		api, kube := newServed()
		set, err := manager.New(manager.Options{Kubernetes: kube}, podwright.Kind{
			Name: "carts", Resource: schema.GroupVersionResource{Group: "shop.io", Version: "v1", Resource: "carts"},
			New:       func(context.Context) (podwright.Runner, error) { return runs{began, "controller", nil}, nil },
			Admission: &podwright.Admission{Run: runs{began, "cache", nil}.Run, Missing: func() { missing++ }},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := quiet(t)
		ended := make(chan error, 1)
		go func() { ended <- set.RunWebhooks(ctx) }()
		time.Sleep(time.Minute)
		if len(began) != 0 || missing != 1 {
			t.Errorf("%d run, missing told %d times", len(began), missing)
		}
		api.install("carts")
		time.Sleep(time.Minute)
		if got := <-began; got != "cache" || len(began) != 0 {
			t.Errorf("%s and %d others run", got, len(began))
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAwait(t *testing.T) {
	for name, c := range map[string]struct {
		installed     bool
		fail          error
		after         time.Duration // what is installed then
		lasts         time.Duration
		served        bool
		tells, atMost int
	}{
		"PF-4: it is there":                  {true, nil, time.Hour, time.Hour, true, 0, 1},
		"PF-4: it appears, and is told once": {false, nil, 10 * time.Minute, time.Hour, true, 1, 12},
		"PF-4: no answer says nothing of it": {false, errors.New("down"), 10 * time.Minute, time.Hour, true, 0, 12},
		"the end comes first":                {false, nil, time.Hour, 90 * time.Second, false, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api, kube := newServed()
				if api.fail = c.fail; c.installed {
					api.install("clonesets")
				}
				stop := time.AfterFunc(c.after, func() { api.install("clonesets") })
				defer stop.Stop()
				ctx, cancel := quiet(t)
				defer cancel()
				ctx, end := context.WithTimeout(ctx, c.lasts)
				defer end()
				told := 0
				resource := schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}
				got := manager.Await(ctx, kube.Discovery(), resource, time.Minute, func() { told++ }) == nil
				if got != c.served || told != c.tells || api.asked > c.atMost {
					t.Errorf("served %t, missing told %d times after %d questions; want %t, %d, at most %d", got, told, api.asked, c.served, c.tells, c.atMost)
				}
			})
		})
	}
}

// Two kinds of one name, and two webhooks of one path, are a mistake of the caller.
func TestNewRefuses(t *testing.T) {
	k := cloneset.Describe(cloneset.Options{}, &cloneset.Webhook{})
	_, err := manager.New(manager.Options{}, k, k)
	for _, want := range []string{`controller "cloneset-controller"`, "serve /mutate-apps-kruise-io-v1alpha1-cloneset"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := manager.New(manager.Options{}, k, k.WebhookOnly()); err == nil || strings.Contains(err.Error(), "controller") {
		t.Errorf("error %v", err)
	}
}

// The kinds alone that are handed over have CRDs, webhooks and rules, each in one namespace if that is all the controller works in.
// testdata/namespace.txt shows them.
func TestOneNamespace(t *testing.T) {
	shop := podwright.ControllerOptions{Namespace: "shop"}
	set, err := manager.New(manager.Options{Name: "prog", Namespace: "own"},
		recreate.Describe(recreate.Options{ControllerOptions: shop}, nil),
		imagepulljob.Describe(imagepulljob.Options{ControllerOptions: shop}, &imagepulljob.Webhook{}),
		nodeimage.Describe(nodeimage.Options{ControllerOptions: shop}, nil),
		podwebhook.Describe(podwebhook.Parts{}))
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, "testdata/namespace.txt", func(t *testing.T, _ *datadriven.TestData) string {
		objects, err := set.Objects()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, o := range objects {
			fmt.Fprintln(&out, path.Join(o.GetKind(), o.GetNamespace(), o.GetName()))
		}
		mutating, validating := set.Webhooks()
		for _, w := range mutating {
			fmt.Fprintln(&out, "mutating", w.Name)
		}
		for _, w := range validating {
			fmt.Fprintln(&out, "validating", w.Name)
		}
		return out.String()
	})
	if _, err := (&manager.Set{}).Objects(); err == nil || !strings.Contains(err.Error(), "Options.Name") {
		t.Errorf("error %v", err)
	}
}

// PF-5.1: what OpenKruise 1.9 registered without a version is answered at that path too, by the same webhook.
func TestPathsWithoutAVersion(t *testing.T) {
	set, err := manager.New(manager.Options{}, imagepulljob.Describe(imagepulljob.Options{}, &imagepulljob.Webhook{}))
	if err != nil {
		t.Fatal(err)
	}
	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":{"spec":{"image":""}}}}`
	answers := map[string]string{}
	for path, handler := range set.Handlers() {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, strings.NewReader(review)))
		answers[path] = answer.Body.String()
	}
	for _, verb := range []string{"mutate", "validate"} {
		old, new := answers["/"+verb+"-apps-kruise-io-v1alpha1-imagepulljob"], answers["/"+verb+"-apps-kruise-io-imagepulljob"]
		if old == "" || old != new {
			t.Errorf("%s: %q with a version, %q without", verb, old, new)
		}
	}
}
