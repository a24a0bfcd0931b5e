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
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.03125"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.0625"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.125"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.25"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="0.5"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="1"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="2"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="4"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="8"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="16"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="32"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="64"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="128"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="256"} 1
podwright_advancedcronjob_creation_delay_seconds_bucket{le="512"} 1
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
