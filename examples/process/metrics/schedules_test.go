// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestSchedules(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := NewSchedules(registry)
	NewSchedules(registry).Missed(2)
	s.Missed(1)
	s.Started(20 * time.Millisecond)
	s.Started(time.Hour)
	const want = `
# HELP podwright_advancedcronjob_creation_delay_seconds Time from the scheduled time of a job to its creation
# TYPE podwright_advancedcronjob_creation_delay_seconds histogram
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.01"} 0
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.04"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.16"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.64"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="2.56"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="10.24"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="40.96"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="163.84"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="655.36"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="+Inf"} 2
podwright_advancedcronjob_creation_delay_seconds_sum 3600.02
podwright_advancedcronjob_creation_delay_seconds_count 2
# HELP podwright_advancedcronjob_missed_total Scheduled times for which no job was created
# TYPE podwright_advancedcronjob_missed_total counter
podwright_advancedcronjob_missed_total 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Errorf("ACJ-15.1: %v", err)
	}
}
