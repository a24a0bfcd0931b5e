package app

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/manager/metrics"
)

// Images are pulled also where no workloads are installed, whose order they would
// be pulled in.
func TestImagePullJobsWithoutWorkloads(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	for name, c := range map[string]struct {
		served func(schema.GroupVersionResource) (bool, error)
		caches []string // nil: an error
	}{
		"PF-4: no workloads": {func(schema.GroupVersionResource) (bool, error) { return false, nil }, []string{"imagepulljobs", "nodeimages"}},
		"PF-4: StatefulSets only": {func(r schema.GroupVersionResource) (bool, error) { return r == statefulSetsResource, nil },
			[]string{"imagepulljobs", "nodeimages", "statefulsets"}},
		"PF-4: both":      {func(schema.GroupVersionResource) (bool, error) { return true, nil }, []string{"clonesets", "imagepulljobs", "nodeimages", "statefulsets"}},
		"PF-4: no answer": {func(schema.GroupVersionResource) (bool, error) { return false, errors.New("down") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Manager{config: mustParse(t, noEnv).Config, metrics: metrics.New()}
			shared, err := m.newCaches(config)
			if err != nil {
				t.Fatal(err)
			}
			p := parts{caches: shared, served: c.served, logger: klog.Background()}
			if p.kubernetes, err = kubernetesClient(config, ""); err != nil {
				t.Fatal(err)
			}
			if p.distribution, err = distributionclient.NewForConfig(config); err != nil {
				t.Fatal(err)
			}
			_, err = m.newImagePullJobs(p)
			if (err != nil) != (c.caches == nil) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.caches, slices.Sorted(maps.Keys(shared.custom))); diff != "" && err == nil {
				t.Errorf("caches (-want +got):\n%s", diff)
			}
		})
	}
}
