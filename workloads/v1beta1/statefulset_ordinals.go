// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// ReservedOrdinals are numbers, and ranges such as "5-7".
type ReservedOrdinals []intstr.IntOrString

// UnmarshalJSON reads numbers also if they do not fit into an int32, as objects may have them that
// were stored before there were ranges: as a range of one ordinal. Such an object must not keep a
// client from reading the others.
func (r *ReservedOrdinals) UnmarshalJSON(data []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return err
	}
	if *r = nil; entries != nil {
		*r = make(ReservedOrdinals, len(entries))
	}
	for i, entry := range entries {
		var n int64
		switch err := json.Unmarshal(entry, &n); {
		case err == nil && n > math.MaxInt32:
			(*r)[i] = intstr.FromString(fmt.Sprintf("%d-%d", n, n))
		case err == nil && n < math.MinInt32:
			(*r)[i] = intstr.FromInt32(math.MinInt32) // it reserves nothing, whatever it is
		default:
			if err := json.Unmarshal(entry, &(*r)[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
