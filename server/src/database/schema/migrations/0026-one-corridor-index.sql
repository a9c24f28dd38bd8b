-- Its place is taken by lanes_of_corridor. (A database that took an earlier form of migration 23 has it no more.)
drop index if exists lanes_by_corridor;
