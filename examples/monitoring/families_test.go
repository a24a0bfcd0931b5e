// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	generator "k8s.io/kube-state-metrics/v2/pkg/metric_generator"
	metricsstore "k8s.io/kube-state-metrics/v2/pkg/metrics_store"
)

// configuration is the file that kube-state-metrics reads.
type configuration struct {
	Kind                        string `yaml:"kind"`
	customresourcestate.Metrics `yaml:",inline"`
}

// configured returns what kube-state-metrics is told, as it understands it.
func configured(t *testing.T) []customresourcestate.Resource {
	t.Helper()
	file := decode[configuration](t, "customresourcestate.yaml")
	if file.Kind != "CustomResourceStateMetrics" {
		t.Errorf("kind is %q", file.Kind)
	}
	for _, r := range file.Spec.Resources {
		for i := range r.Metrics {
			r.Metrics[i].Each.Type = metric.Type(strings.ToLower(string(r.Metrics[i].Each.Type))) // as kube-state-metrics does
		}
	}
	return file.Spec.Resources
}

// objects returns the objects of testdata, and an example of each kind that is not among them.
func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	file, err := os.Open("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return append(all, examples(t, all)...)
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
}

// What kube-state-metrics' own code makes of an object of each kind.
func TestFamilies(t *testing.T) {
	var out bytes.Buffer
	shown := map[schema.GroupVersionKind]bool{}
	all := objects(t)
	for _, r := range configured(t) {
		factory, err := customresourcestate.NewCustomResourceMetrics(r)
		if err != nil {
			t.Fatalf("%s: %v", r.GroupVersionKind, err)
		}
		families := factory.MetricFamilyGenerators()
		store := metricsstore.NewMetricsStore(generator.ExtractMetricFamilyHeaders(families), generator.ComposeMetricGenFuncs(families))
		for _, object := range all {
			if kind := object.GroupVersionKind(); kind == schema.GroupVersionKind(r.GroupVersionKind) {
				shown[kind] = true
				if err := store.Add(object); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
		if err := metricsstore.NewMetricsWriter(factory.Name(), store).WriteAll(&out); err != nil {
			t.Errorf("%s: %v", r.GroupVersionKind, err)
		}
	}
	for kind, d := range definitions(t) {
		if d.stored && !shown[kind] {
			t.Errorf("no object of testdata/objects.yaml shows the metrics of %s", kind)
		}
	}
	golden(t, "testdata/families.txt", out.Bytes())
}

// Every family has a sample in the golden file.
func TestFamiliesHaveSamples(t *testing.T) {
	data, err := os.ReadFile("testdata/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	sampled := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if name, _, found := strings.Cut(line, "{"); found && !strings.HasPrefix(line, "#") {
			sampled[name] = true
		}
	}
	for name := range families(t) {
		if !sampled[name] {
			t.Errorf("%s has no sample: is its path right?", name)
		}
	}
}

// families returns the names of what kube-state-metrics shows, and their labels.
func families(t *testing.T) metrics {
	t.Helper()
	all := metrics{}
	for _, r := range configured(t) {
		for _, g := range r.Metrics {
			name := *r.MetricNamePrefix + "_" + g.Name
			if all[name] != nil {
				t.Errorf("%s is there twice", name)
			}
			labels := []string{"customresource_group", "customresource_version", "customresource_kind"}
			for _, from := range []map[string][]string{r.LabelsFromPath, g.LabelsFromPath, meta(g.Each).LabelsFromPath} {
				labels = slices.AppendSeq(labels, maps.Keys(from))
			}
			if gauge := g.Each.Gauge; gauge != nil && gauge.LabelFromKey != "" {
				labels = append(labels, gauge.LabelFromKey)
			}
			if set := g.Each.StateSet; set != nil {
				labels = append(labels, set.LabelName)
			}
			all[name] = labels
		}
	}
	return all
}

// meta returns the path of a metric, and what it takes from there.
func meta(each customresourcestate.Metric) customresourcestate.MetricMeta {
	switch {
	case each.Gauge != nil:
		return each.Gauge.MetricMeta
	case each.StateSet != nil:
		return each.StateSet.MetricMeta
	default:
		return each.Info.MetricMeta
	}
}
