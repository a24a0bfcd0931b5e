// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// counted is a SpreadMetrics.
type counted struct{ lines []string }

func (m *counted) Counted(namespace, name string, status *v1alpha1.WorkloadSpreadStatus) {
	m.lines = append(m.lines, namespace+"/"+name+": "+describe(status))
}

func (m *counted) Gone(namespace, name string) {
	m.lines = append(m.lines, namespace+"/"+name+" is gone")
}

func TestMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		metrics := &counted{}
		_, stop := c.start(func(o *Options) { o.SpreadMetrics = metrics })
		c.deployment("web", 3)
		c.createSpread("web", twoLimits)
		c.Sleep("1s")
		c.change("", "")
		c.Sleep("1s")
		stop()
		if diff := cmp.Diff([]string{"default/web: a has 0, misses 2; b has 0, misses 2; c has 0", "default/web is gone"}, metrics.lines); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

func TestPlanNothing(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if p := NewPlan(s); len(p.Problems) == 0 || p.String() == "" {
			t.Errorf("problems %v", p.Problems)
		}
	}
}
