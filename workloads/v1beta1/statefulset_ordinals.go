// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// ReservedOrdinals are numbers, and ranges such as "5-7".
type ReservedOrdinals []intstr.IntOrString

// UnmarshalJSON reads numbers also if they do not fit into an int32, as a range of one ordinal.
// Objects may have them that were stored before there were ranges. Such an object must not keep a
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
		case err == nil:
			(*r)[i] = entryOf(n)
		default:
			if err := json.Unmarshal(entry, &(*r)[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// entryOf is the entry of a number, also if it does not fit into an int32.
func entryOf(n int64) intstr.IntOrString {
	switch {
	case n > math.MaxInt32:
		return intstr.FromString(fmt.Sprintf("%d-%d", n, n))
	case n < math.MinInt32:
		return intstr.FromInt32(math.MinInt32) // it reserves nothing, whatever it is
	}
	return intstr.FromInt32(int32(n))
}

// Reserved returns all entries of reserveOrdinals: the numbers of ReserveOrdinals, and what stands in
// ReserveOrdinalRanges. It must not be changed.
func (s *StatefulSetSpec) Reserved() ReservedOrdinals {
	if len(s.ReserveOrdinals) == 0 {
		return s.ReserveOrdinalRanges
	}
	all := make(ReservedOrdinals, 0, len(s.ReserveOrdinals)+len(s.ReserveOrdinalRanges))
	for _, n := range s.ReserveOrdinals {
		all = append(all, entryOf(int64(n)))
	}
	return append(all, s.ReserveOrdinalRanges...)
}

// plainSpec is a StatefulSetSpec in which all entries stand in one field.
type plainSpec StatefulSetSpec

// MarshalJSON writes all entries of reserveOrdinals into one list.
func (s StatefulSetSpec) MarshalJSON() ([]byte, error) {
	s.ReserveOrdinalRanges = s.Reserved()
	return json.Marshal((*plainSpec)(&s))
}

// UnmarshalJSON reads the numbers of reserveOrdinals into ReserveOrdinals, and the ranges into ReserveOrdinalRanges.
func (s *StatefulSetSpec) UnmarshalJSON(data []byte) error {
	numbers, ranges := s.ReserveOrdinals, s.ReserveOrdinalRanges
	s.ReserveOrdinalRanges = nil
	if err := utiljson.Unmarshal(data, (*plainSpec)(s)); err != nil {
		return err
	}
	read := s.ReserveOrdinalRanges
	if read == nil { // the list is not there: it stays
		s.ReserveOrdinals, s.ReserveOrdinalRanges = numbers, ranges
		return nil
	}
	s.ReserveOrdinals, s.ReserveOrdinalRanges = nil, nil
	for _, entry := range read {
		if entry.Type == intstr.Int {
			s.ReserveOrdinals = append(s.ReserveOrdinals, int(entry.IntVal))
		} else {
			s.ReserveOrdinalRanges = append(s.ReserveOrdinalRanges, entry)
		}
	}
	return nil
}
