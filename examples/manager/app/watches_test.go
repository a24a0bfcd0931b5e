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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/metrics"
	"github.com/podwright/podwright/internal/fakecluster"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kinds are those that the manager reads beside the built-in ones.
var kinds = []fakecluster.Resource{
	fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
	fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
	fakecluster.CustomResource(distributionv1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), "imagepulljobs"),
	{GroupVersionKind: distributionv1alpha1.SchemeGroupVersion.WithKind("NodeImage"), Name: "nodeimages", ClusterScoped: true, Status: true, Generation: true},
	fakecluster.CustomResource(lifecyclev1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests"),
}

// watches stands before an API server. It notes which part of the manager watches what, and answers which resources are served.
type watches struct {
	next http.RoundTripper

	lock sync.Mutex
	all  map[string]int // as "RESOURCE by PART"
}

func (w *watches) RoundTrip(request *http.Request) (*http.Response, error) {
	_, part, _ := strings.Cut(request.UserAgent(), "/")
	switch p := request.URL.Path; {
	case p == "/api/v1" || len(strings.Split(p, "/")) == 4 && strings.HasPrefix(p, "/apis/"):
		return served(request)
	case request.URL.Query().Get("watch") != "":
		w.lock.Lock()
		w.all[path.Base(p)+" by "+part]++
		w.lock.Unlock()
	}
	return w.next.RoundTrip(request)
}

// served answers which resources of a group there are: all kinds.
func served(request *http.Request) (*http.Response, error) {
	list := metav1.APIResourceList{GroupVersion: strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/")}
	for _, name := range []string{"pods", "nodes"} {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: kind.Name})
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

// However many controllers read a kind, the API server sends every object once.
func TestEveryKindIsWatchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil, kinds...)
		config := server.Config("")
		seen := &watches{next: config.Transport, all: map[string]int{}}
		config.Transport = seen
		gates, err := features.Parse("PreDownloadImageForInPlaceUpdate=true", "") // which has more read
		if err != nil {
			t.Fatal(err)
		}
		m := &Manager{config: mustParse(t, noEnv).Config, gates: gates, metrics: metrics.New()}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- m.runControllers(ctx, config, discovery.ToDiscoveryInterfaceWithContext(client.Discovery()))
		}()
		time.Sleep(time.Minute) // of virtual time: until all have started
		synctest.Wait()
		var got []string
		seen.lock.Lock()
		for _, what := range slices.Sorted(maps.Keys(seen.all)) {
			got = append(got, fmt.Sprint(what, ": ", seen.all[what]))
		}
		seen.lock.Unlock()
		want := []string{
			"clonesets by caches: 1", "containerrecreaterequests by containerrecreaterequest-controller: 1", "controllerrevisions by caches: 1",
			"imagepulljobs by caches: 1", "nodeimages by caches: 1", "nodes by caches: 1", "persistentvolumeclaims by caches: 1",
			"pods by caches: 1", "statefulsets by caches: 1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("watches (-want +got):\n%s", diff)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
