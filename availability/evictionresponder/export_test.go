// SPDX-License-Identifier: Apache-2.0

package evictionresponder

// PodFields are the fields of pods whose changes are events.
const PodFields = podFields
