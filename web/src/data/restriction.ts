/* What all views are narrowed to, as parameters of the API. */
import { computed } from '@preact/signals';
import { restrictionOf } from '../model/address';
import { query } from './place';

export const restriction = computed(() => restrictionOf(query.value));
